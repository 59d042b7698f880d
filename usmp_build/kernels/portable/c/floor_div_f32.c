/* FLOOR_DIV and FLOOR_MOD of floats. */
#include <math.h>

#include "pairs.h"
#include "usmp.h"
#include "walk.h"

/* The remainder has the sign of the divisor. */
static inline float usmp_floor_mod_of(float a, float b)
{
    const float rest = fmodf(a, b);
    return (rest < 0.0f && b > 0.0f) || (rest > 0.0f && b < 0.0f) ? rest + b : rest;
}

void usmp_floor_div_f32(
    const struct usmp_pairs *p, const usmp_f32 *first, const usmp_f32 *second, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    struct usmp_pair at = usmp_pair_at(p->axes, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (float)floor((double)first[at.first] / (double)second[at.second]);
        usmp_next_pair(&at, p->axes, p->direction);
    }
}

void usmp_floor_mod_f32(
    const struct usmp_pairs *p, const usmp_f32 *first, const usmp_f32 *second, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    struct usmp_pair at = usmp_pair_at(p->axes, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = usmp_floor_mod_of(first[at.first], second[at.second]);
        usmp_next_pair(&at, p->axes, p->direction);
    }
}
