/* Sums of all pixels and channels of one output row, to which input rows are added one by one. */
#ifndef USMP_SUMS_H
#define USMP_SUMS_H

#include "arithmetic.h"
#include "usmp.h"
#include "walk.h"

/* Makes up to four outputs of sums; low and high are the limits of the output less its zero point.  Bias, multiplier and
 * shift have one element for each of them. */
static inline void usmp_finish_block_s8(
    const int32_t *sums, int32_t lanes, const int32_t *bias, const int32_t *multiplier, const int8_t *shift,
    int32_t low, int32_t high, int32_t zero_point, int8_t *output)
{
    for (int32_t i = 0; i < lanes; ++i) {
        const int32_t scaled = usmp_scale(usmp_add(sums[i], bias[i]), multiplier[i], shift[i]);
        output[i] = (int8_t)(usmp_clamp(scaled, low, high) + zero_point);
    }
}

/* Requantizes `pixels` x `channels` sums; low and high are the limits of the output less its zero point.  Bias,
 * multiplier and shift have one element for each channel. */
static inline void usmp_finish_sums_s8(
    const usmp_i32 *sums, int32_t pixels, int32_t channels, const int32_t *bias, const int32_t *multiplier,
    const int8_t *shift, int32_t low, int32_t high, int32_t zero_point, int32_t direction, int8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(pixels * channels, 1, direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        const int32_t c = i % channels;
        const int32_t scaled = usmp_scale(usmp_add(sums[i], bias[c]), multiplier[c], shift[c]);
        output[i] = (int8_t)(usmp_clamp(scaled, low, high) + zero_point);
    }
}

/* A sum of 64 bits, as an element of the output.  Where `narrow`, it has only 32, as TensorFlow Lite Micro adds up
 * where biases do: then it is rounded twice, by a multiplier of 31 bits. */
static inline int16_t usmp_finished_s16(
    int64_t sum, int32_t narrow, int32_t multiplier, int32_t shift, int32_t low, int32_t high)
{
    const int32_t scaled = narrow ? usmp_scale((int32_t)sum, multiplier, shift)
                                  : usmp_scale_wide(sum, multiplier, shift);
    return (int16_t)usmp_clamp(scaled, low, high);
}

/* The same as usmp_finish_sums_s8 for sums of 64 bits. */
static inline void usmp_finish_sums_s16(
    const usmp_i64 *sums, int32_t pixels, int32_t channels, const int64_t *bias, int32_t narrow,
    const int32_t *multiplier, const int8_t *shift, int32_t low, int32_t high, int32_t direction, usmp_i16 *output)
{
    const struct usmp_walk walk = usmp_walk_along(pixels * channels, 1, direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        const int32_t c = i % channels;
        output[i] = usmp_finished_s16(sums[i] + bias[c], narrow, multiplier[c], shift[c], low, high);
    }
}

/* The same for sums of floats. */
static inline void usmp_finish_sums_f32(
    const usmp_f32 *sums, int32_t pixels, int32_t channels, const float *bias, float low, float high,
    int32_t direction, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(pixels * channels, 1, direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = usmp_clamp_f32(sums[i] + bias[i % channels], low, high);
    }
}

#endif
