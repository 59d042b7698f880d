/* EQUAL and NOT_EQUAL of numbers as they are. */
#include "pairs.h"
#include "usmp.h"
#include "walk.h"

/* EQUAL has an `equal` of 1, NOT_EQUAL of 0. */
struct usmp_equal_parameters {
    int32_t size;
    int32_t axes[15];
    int32_t equal;
    int32_t direction; /* 1 forward, -1 backward */
};

void usmp_equal_f32(
    const struct usmp_equal_parameters *p, const usmp_f32 *first, const usmp_f32 *second, uint8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    struct usmp_pair at = usmp_pair_at(p->axes, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (first[at.first] == second[at.second]) == p->equal;
        usmp_next_pair(&at, p->axes, p->direction);
    }
}
