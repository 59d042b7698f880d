/* FLOOR_DIV and FLOOR_MOD of integers. */
#include "arithmetic.h"
#include "pairs.h"
#include "usmp.h"
#include "walk.h"

/* Rounded down; by 0 it is 0, and INT32_MIN / -1 wraps. */
static inline int32_t usmp_floor_quotient(int32_t a, int32_t b)
{
    if (b == 0) {
        return 0;
    }
    if (b == -1) {
        return usmp_multiply(a, -1);
    }
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

void usmp_floor_div_s32(
    const struct usmp_pairs *p, const usmp_i32 *first, const usmp_i32 *second, usmp_i32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    struct usmp_pair at = usmp_pair_at(p->axes, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = usmp_floor_quotient(first[at.first], second[at.second]);
        usmp_next_pair(&at, p->axes, p->direction);
    }
}

void usmp_floor_mod_s32(
    const struct usmp_pairs *p, const usmp_i32 *first, const usmp_i32 *second, usmp_i32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    struct usmp_pair at = usmp_pair_at(p->axes, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        const int32_t a = first[at.first];
        const int32_t b = second[at.second];
        const int32_t rest = b == 0 || b == -1 ? 0 : a % b;
        output[i] = rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
        usmp_next_pair(&at, p->axes, p->direction);
    }
}
