#include "add.h"
#include "arithmetic.h"
#include "broadcast.h"

static inline int8_t usmp_add_two_s8(const struct usmp_add_s8_parameters *p, int8_t left, int8_t right)
{
    const int32_t one = 1 << 20;
    const int32_t a = usmp_scale((left - p->left_zero_point) * one, p->left_multiplier, p->left_shift);
    const int32_t b = usmp_scale((right - p->right_zero_point) * one, p->right_multiplier, p->right_shift);
    const int32_t sum = usmp_scale(a + p->sign * b, p->output_multiplier, p->output_shift);
    return (int8_t)(usmp_clamp(sum, p->low, p->high) + p->output_zero_point);
}

void usmp_add_s8(
    const struct usmp_add_s8_parameters *p, const int8_t *left, const int8_t *right, int8_t *output)
{
    for (int32_t i = 0; i < p->size; ++i) {
        output[i] = usmp_add_two_s8(p, left[i], right[i]);
    }
}

void usmp_add_s8_stretched(
    const struct usmp_add_s8_parameters *p, const int8_t *left, const int8_t *right, const int32_t *axes,
    int8_t *output)
{
    struct usmp_position at = {{0, 0, 0, 0, 0}, 0, 0};

    for (int32_t i = 0; i < p->size; ++i) {
        output[i] = usmp_add_two_s8(p, left[at.left], right[at.right]);
        usmp_next_position(&at, axes);
    }
}
