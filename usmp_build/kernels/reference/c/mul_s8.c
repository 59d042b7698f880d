#include "arithmetic.h"
#include "broadcast.h"
#include "mul.h"

static inline int8_t usmp_mul_two_s8(const struct usmp_mul_s8_parameters *p, int8_t left, int8_t right)
{
    const int32_t product = (left - p->left_zero_point) * (right - p->right_zero_point);
    const int32_t scaled = usmp_scale(product, p->multiplier, p->shift);
    return (int8_t)(usmp_clamp(scaled, p->low, p->high) + p->output_zero_point);
}

void usmp_mul_s8(
    const struct usmp_mul_s8_parameters *p, const int8_t *left, const int8_t *right, int8_t *output)
{
    for (int32_t i = 0; i < p->size; ++i) {
        output[i] = usmp_mul_two_s8(p, left[i], right[i]);
    }
}

void usmp_mul_s8_stretched(
    const struct usmp_mul_s8_parameters *p, const int8_t *left, const int8_t *right, const int32_t *axes,
    int8_t *output)
{
    struct usmp_position at = {{0, 0, 0, 0, 0}, 0, 0};

    for (int32_t i = 0; i < p->size; ++i) {
        output[i] = usmp_mul_two_s8(p, left[at.left], right[at.right]);
        usmp_next_position(&at, axes);
    }
}
