/* SQUARED_DIFFERENCE of integers, modulo 2^32. */
#include "arithmetic.h"
#include "pairs.h"
#include "usmp.h"
#include "walk.h"

void usmp_squared_difference_s32(
    const struct usmp_pairs *p, const usmp_i32 *first, const usmp_i32 *second, usmp_i32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    struct usmp_pair at = usmp_pair_at(p->axes, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        const int32_t difference = usmp_add(first[at.first], usmp_multiply(-1, second[at.second]));
        output[i] = usmp_multiply(difference, difference);
        usmp_next_pair(&at, p->axes, p->direction);
    }
}
