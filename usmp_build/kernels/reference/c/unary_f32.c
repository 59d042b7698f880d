#include <math.h>

#include "arithmetic.h"
#include "unary.h"
#include "walk.h"

void usmp_relu_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = input[i] < 0.0f ? 0.0f : input[i];
    }
}

void usmp_relu6_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = usmp_clamp_f32(input[i], 0.0f, 6.0f);
    }
}

/* 1 / (1 + e^-x).  Below -9 it is e^x, above 16.62 it is 1: there TensorFlow Lite Micro leaves the formula. */
static inline float usmp_logistic_of(float x)
{
    if (x > 16.619047164916992f) {
        return 1.0f;
    }
    return x < -9.0f ? expf(x) : 1.0f / (1.0f + expf(-x));
}

void usmp_logistic_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = usmp_logistic_of(input[i]);
    }
}

void usmp_tanh_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = tanhf(input[i]);
    }
}
