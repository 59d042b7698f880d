#include <math.h>

#include "arithmetic.h"
#include "logistic_f32.h"
#include "unary.h"
#include "walk.h"

/* RELU. */
void usmp_relu_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = input[i] < 0.0f ? 0.0f : input[i];
    }
}

/* RELU6. */
void usmp_relu6_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = usmp_clamp_f32(input[i], 0.0f, 6.0f);
    }
}

/* RELU_0_TO_1. */
void usmp_relu_0_to_1_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = usmp_clamp_f32(input[i], 0.0f, 1.0f);
    }
}

/* LOGISTIC. */
void usmp_logistic_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = usmp_logistic_of(input[i]);
    }
}

/* TANH. */
void usmp_tanh_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = tanhf(input[i]);
    }
}
