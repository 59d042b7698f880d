#include "arithmetic.h"
#include "broadcast.h"
#include "mul.h"

void usmp_mul_f32(
    const struct usmp_mul_f32_parameters *p, const usmp_f32 *left, const usmp_f32 *right, usmp_f32 *output)
{
    for (int32_t i = 0; i < p->size; ++i) {
        output[i] = usmp_clamp_f32(left[i] * right[i], p->low, p->high);
    }
}

void usmp_mul_f32_stretched(
    const struct usmp_mul_f32_parameters *p, const usmp_f32 *left, const usmp_f32 *right,
    const int32_t *axes, usmp_f32 *output)
{
    struct usmp_position at = {{0, 0, 0, 0, 0}, 0, 0};

    for (int32_t i = 0; i < p->size; ++i) {
        output[i] = usmp_clamp_f32(left[at.left] * right[at.right], p->low, p->high);
        usmp_next_position(&at, axes);
    }
}
