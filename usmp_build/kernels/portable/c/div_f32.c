/* DIV of floats. */
#include "arithmetic.h"
#include "pairs.h"
#include "usmp.h"
#include "walk.h"

struct usmp_div_f32_parameters {
    int32_t size;
    int32_t axes[15];
    float low;
    float high;
    int32_t direction; /* 1 forward, -1 backward */
};

void usmp_div_f32(
    const struct usmp_div_f32_parameters *p, const usmp_f32 *first, const usmp_f32 *second, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    struct usmp_pair at = usmp_pair_at(p->axes, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = usmp_clamp_f32(first[at.first] / second[at.second], p->low, p->high);
        usmp_next_pair(&at, p->axes, p->direction);
    }
}
