#include "arithmetic.h"
#include "mul.h"
#include "pairs.h"
#include "walk.h"

/* Two tensors of one shape. */
void usmp_mul_s32(
    const struct usmp_mul_s32_parameters *p, const usmp_i32 *first, const usmp_i32 *second, usmp_i32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = usmp_clamp(usmp_multiply(first[i], second[i]), p->low, p->high);
    }
}

/* Two tensors of which at least one is stretched.  `axes` has three numbers for each of five axes of the output, the
 * innermost last: its size, and how far one step along it moves in `first` and in `second`. */
void usmp_mul_s32_stretched(
    const struct usmp_mul_s32_parameters *p, const usmp_i32 *first, const usmp_i32 *second,
    const int32_t *axes, usmp_i32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    struct usmp_pair at = usmp_pair_at(axes, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = usmp_clamp(usmp_multiply(first[at.first], second[at.second]), p->low, p->high);
        usmp_next_pair(&at, axes, p->direction);
    }
}
