/* Inputs that are quantized when they arrive, to meet weights of int8: sums are those of integers. */
#ifndef USMP_DYNAMIC_RANGE_H
#define USMP_DYNAMIC_RANGE_H

#include <math.h>

#include "usmp.h"

/* A real value is (quantized value - zero point) * scale; inverse is 1 / scale. */
struct usmp_dynamic_range {
    float scale;
    float inverse;
    int32_t zero_point;
};

/* Where 0 is 0, and the farther one of two ends is 127 or -127. */
static inline struct usmp_dynamic_range usmp_symmetric_range(float low, float high)
{
    const float farthest = -low > high ? -low : high;
    struct usmp_dynamic_range range = {1.0f, 1.0f, 0};

    if (farthest > 0.0f) {
        range.scale = farthest / 127.0f;
        range.inverse = 127.0f / farthest;
    }
    return range;
}

/* Where both ends and 0 are from -128 to 127: the zero point is computed from the end that loses less. */
static inline struct usmp_dynamic_range usmp_asymmetric_range(float low, float high)
{
    const double bottom = low < 0.0f ? (double)low : 0.0;
    const double top = high > 0.0f ? (double)high : 0.0;
    const double scale = (top - bottom) / 255.0;
    struct usmp_dynamic_range range = {1.0f, 1.0f, 0};

    if (scale > 0.0) {
        const int is_below = 128.0 - bottom / scale < 127.0 + top / scale;
        const double zero_point = is_below ? -128.0 - bottom / scale : 127.0 - top / scale;
        const double bounded = zero_point > -128.0 ? (zero_point < 127.0 ? zero_point : 127.0) : -128.0;

        range.scale = (float)scale;
        range.inverse = 1.0f / range.scale;
        range.zero_point = (int32_t)(bounded < 0.0 ? bounded - 0.5 : bounded + 0.5);
    }
    return range;
}

/* Quantizes `count` inputs; one that is no number becomes the least one. */
static inline struct usmp_dynamic_range usmp_quantize_dynamically(
    const usmp_f32 *input, int32_t count, int32_t symmetric, int8_t *quantized)
{
    const float least = symmetric ? -127.0f : -128.0f;
    struct usmp_dynamic_range range;
    float low = input[0];
    float high = input[0];

    for (int32_t i = 1; i < count; ++i) {
        low = input[i] < low ? input[i] : low;
        high = input[i] > high ? input[i] : high;
    }
    range = symmetric ? usmp_symmetric_range(low, high) : usmp_asymmetric_range(low, high);
    for (int32_t i = 0; i < count; ++i) {
        const float rounded = roundf((float)range.zero_point + input[i] * range.inverse);
        quantized[i] = (int8_t)(rounded > least ? (rounded < 127.0f ? rounded : 127.0f) : least);
    }
    return range;
}

#endif
