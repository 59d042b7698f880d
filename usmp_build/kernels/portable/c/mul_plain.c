/* MUL of numbers that stand for themselves. */
#include "arithmetic.h"
#include "pairs.h"
#include "usmp.h"
#include "walk.h"

struct usmp_mul_s32_parameters {
    int32_t size;
    usmp_number low;
    usmp_number high;
    int32_t direction; /* 1 forward, -1 backward */
};

static inline usmp_number usmp_mul_one_s32(
    const struct usmp_mul_s32_parameters *p, usmp_number first, usmp_number second)
{
#if USMP_S32
    return usmp_clamp(usmp_multiply(first, second), p->low, p->high);
#else
    return usmp_clamp_f32(first * second, p->low, p->high);
#endif
}

/* Two tensors of one shape. */
void usmp_mul_s32(
    const struct usmp_mul_s32_parameters *p, const usmp_i32 *first, const usmp_i32 *second, usmp_i32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = usmp_mul_one_s32(p, first[i], second[i]);
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
        output[i] = usmp_mul_one_s32(p, first[at.first], second[at.second]);
        usmp_next_pair(&at, axes, p->direction);
    }
}
