#include "arithmetic.h"
#include "requantize.h"
#include "walk.h"

static inline int32_t usmp_requantize_one(const struct usmp_requantize_parameters *p, int32_t value)
{
    const int32_t scaled = usmp_scale(value - p->input_zero_point, p->multiplier, p->shift);
    return usmp_clamp(scaled, p->low, p->high) + p->output_zero_point;
}

void usmp_requantize_s8_s8(const struct usmp_requantize_parameters *p, const int8_t *input, int8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (int8_t)usmp_requantize_one(p, input[i]);
    }
}

void usmp_requantize_s8_u8(const struct usmp_requantize_parameters *p, const int8_t *input, uint8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (uint8_t)usmp_requantize_one(p, input[i]);
    }
}

void usmp_requantize_u8_s8(const struct usmp_requantize_parameters *p, const uint8_t *input, int8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (int8_t)usmp_requantize_one(p, input[i]);
    }
}

void usmp_requantize_s8_s16(
    const struct usmp_requantize_parameters *p, const int8_t *input, usmp_i16 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (int16_t)usmp_requantize_one(p, input[i]);
    }
}

void usmp_requantize_s16_s8(
    const struct usmp_requantize_parameters *p, const usmp_i16 *input, int8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (int8_t)usmp_requantize_one(p, input[i]);
    }
}

void usmp_requantize_s16_s16(
    const struct usmp_requantize_parameters *p, const usmp_i16 *input, usmp_i16 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (int16_t)usmp_requantize_one(p, input[i]);
    }
}

void usmp_requantize_s16_s32(
    const struct usmp_requantize_parameters *p, const usmp_i16 *input, usmp_i32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = usmp_requantize_one(p, input[i]);
    }
}

void usmp_requantize_s32_s16(
    const struct usmp_requantize_parameters *p, const usmp_i32 *input, usmp_i16 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (int16_t)usmp_requantize_one(p, input[i]);
    }
}

void usmp_requantize_s8_s32(
    const struct usmp_requantize_parameters *p, const int8_t *input, usmp_i32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = usmp_requantize_one(p, input[i]);
    }
}

void usmp_requantize_s32_s8(
    const struct usmp_requantize_parameters *p, const usmp_i32 *input, int8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (int8_t)usmp_requantize_one(p, input[i]);
    }
}
