/* ADD_N of up to four tensors of one shape; `count` of them count. */
#include "arithmetic.h"
#include "usmp.h"
#include "walk.h"

/* The sum begins with the offset, and has 19 bits after the point when it is scaled.  The shift is to the right.  Low and
 * high are the limits of the output less its zero point. */
struct usmp_add_n_s8_parameters {
    int32_t size;
    int32_t count;
    int32_t offset;
    int32_t multiplier;
    int32_t shift;
    int32_t output_zero_point;
    int32_t low;
    int32_t high;
    int32_t direction; /* 1 forward, -1 backward */
};

struct usmp_add_n_f32_parameters {
    int32_t size;
    int32_t count;
    int32_t direction; /* 1 forward, -1 backward */
};

void usmp_add_n_s8(
    const struct usmp_add_n_s8_parameters *p, const int8_t *first, const int8_t *second, const int8_t *third,
    const int8_t *fourth, int8_t *output);

void usmp_add_n_f32(
    const struct usmp_add_n_f32_parameters *p, const usmp_f32 *first, const usmp_f32 *second, const usmp_f32 *third,
    const usmp_f32 *fourth, usmp_f32 *output);

void usmp_add_n_s8(
    const struct usmp_add_n_s8_parameters *p, const int8_t *first, const int8_t *second, const int8_t *third,
    const int8_t *fourth, int8_t *output)
{
    const int8_t *const inputs[4] = {first, second, third, fourth};
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        int32_t sum = p->offset;

        for (int32_t input = 0; input < p->count; ++input) {
            sum += inputs[input][i];
        }
        const int32_t scaled = usmp_scale_down(sum * (1 << 19), p->multiplier, p->shift);
        output[i] = (int8_t)(usmp_clamp(scaled, p->low, p->high) + p->output_zero_point);
    }
}

void usmp_add_n_f32(
    const struct usmp_add_n_f32_parameters *p, const usmp_f32 *first, const usmp_f32 *second, const usmp_f32 *third,
    const usmp_f32 *fourth, usmp_f32 *output)
{
    const usmp_f32 *const inputs[4] = {first, second, third, fourth};
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        float sum = 0.0f;

        for (int32_t input = 0; input < p->count; ++input) {
            sum += inputs[input][i];
        }
        output[i] = sum;
    }
}
