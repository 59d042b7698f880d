/* Functions of single floats, as their names in <math.h> say. */
#include <math.h>

#include "arithmetic.h"
#include "unary.h"
#include "walk.h"

/* |x|. */
void usmp_abs_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = fabsf(input[i]);
    }
}

void usmp_ceil_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = ceilf(input[i]);
    }
}

void usmp_cos_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = cosf(input[i]);
    }
}

static inline float usmp_elu_of(float x)
{
    return x < 0.0f ? expf(x) - 1.0f : x;
}

/* x, but e^x - 1 below 0. */
void usmp_elu_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = usmp_elu_of(input[i]);
    }
}

void usmp_exp_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = expf(input[i]);
    }
}

void usmp_floor_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = floorf(input[i]);
    }
}

static inline float usmp_gelu_of(float x)
{
    return 0.5f * x * (1.0f + erff(x * 0.70710678f));
}

/* x * (1 + erf(x / sqrt(2))) / 2. */
void usmp_gelu_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = usmp_gelu_of(input[i]);
    }
}

static inline float usmp_gelu_tanh_of(float x)
{
    return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}

/* x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2. */
void usmp_gelu_tanh_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = usmp_gelu_tanh_of(input[i]);
    }
}

static inline float usmp_hard_swish_of(float x)
{
    return x * usmp_clamp_f32(x + 3.0f, 0.0f, 6.0f) / 6.0f;
}

/* x * relu6(x + 3) / 6. */
void usmp_hard_swish_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = usmp_hard_swish_of(input[i]);
    }
}

void usmp_log_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = logf(input[i]);
    }
}

/* -x. */
void usmp_neg_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = -input[i];
    }
}

static inline float usmp_round_of(float x)
{
    const float below = floorf(x);
    const float part = x - below;
    const int up = part > 0.5f || (!(part < 0.5f) && floorf(below * 0.5f) < below * 0.5f);
    return up ? below + 1.0f : below;
}

/* The nearest integer; halves become even. */
void usmp_round_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = usmp_round_of(input[i]);
    }
}

/* 1 / sqrt(x). */
void usmp_rsqrt_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = 1.0f / sqrtf(input[i]);
    }
}

void usmp_sin_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = sinf(input[i]);
    }
}

void usmp_sqrt_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = sqrtf(input[i]);
    }
}

/* x^2. */
void usmp_square_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = input[i] * input[i];
    }
}
