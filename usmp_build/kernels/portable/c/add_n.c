/* ADD_N of up to sixteen tensors of one shape; `count` of them count. */
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
    const struct usmp_add_n_s8_parameters *p, const int8_t *x0, const int8_t *x1, const int8_t *x2, const int8_t *x3,
    const int8_t *x4, const int8_t *x5, const int8_t *x6, const int8_t *x7, const int8_t *x8, const int8_t *x9,
    const int8_t *x10, const int8_t *x11, const int8_t *x12, const int8_t *x13, const int8_t *x14, const int8_t *x15,
    int8_t *output)
{
    const int8_t *const inputs[16] = {x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15};
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
    const struct usmp_add_n_f32_parameters *p, const usmp_f32 *x0, const usmp_f32 *x1, const usmp_f32 *x2,
    const usmp_f32 *x3, const usmp_f32 *x4, const usmp_f32 *x5, const usmp_f32 *x6, const usmp_f32 *x7,
    const usmp_f32 *x8, const usmp_f32 *x9, const usmp_f32 *x10, const usmp_f32 *x11, const usmp_f32 *x12,
    const usmp_f32 *x13, const usmp_f32 *x14, const usmp_f32 *x15, usmp_f32 *output)
{
    const usmp_f32 *const inputs[16] = {x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15};
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        float sum = 0.0f;

        for (int32_t input = 0; input < p->count; ++input) {
            sum += inputs[input][i];
        }
        output[i] = sum;
    }
}
