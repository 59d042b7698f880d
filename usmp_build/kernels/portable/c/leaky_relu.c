/* LEAKY_RELU: inputs below 0 are multiplied by alpha.  A negative alpha makes these products positive; they are scaled
 * like all others. */
#include "arithmetic.h"
#include "usmp.h"
#include "walk.h"

/* Low and high are the limits of the output less its zero point. */
struct usmp_leaky_relu_parameters {
    int32_t size;
    int32_t input_zero_point;
    int32_t multiplier;
    int32_t shift;
    int32_t alpha_multiplier;
    int32_t alpha_shift;
    int32_t output_zero_point;
    int32_t low;
    int32_t high;
    int32_t direction; /* 1 forward, -1 backward */
};

struct usmp_leaky_relu_f32_parameters {
    int32_t size;
    float alpha;
    int32_t direction; /* 1 forward, -1 backward */
};

static inline int32_t usmp_leaky_relu_one(const struct usmp_leaky_relu_parameters *p, int32_t value)
{
    const int32_t real = value - p->input_zero_point;
    const int32_t scaled = real < 0 ? usmp_scale(real, p->alpha_multiplier, p->alpha_shift)
                                    : usmp_scale(real, p->multiplier, p->shift);
    return usmp_clamp(scaled, p->low, p->high) + p->output_zero_point;
}

void usmp_leaky_relu_s8(const struct usmp_leaky_relu_parameters *p, const int8_t *input, int8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (int8_t)usmp_leaky_relu_one(p, input[i]);
    }
}

void usmp_leaky_relu_f32(
    const struct usmp_leaky_relu_f32_parameters *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = input[i] > 0.0f ? input[i] : input[i] * p->alpha;
    }
}
