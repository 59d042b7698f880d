/* Scaling by a factor below 1/2 in loops: the same results as `usmp_scale_down`, in fewer instructions. */
#ifndef USMP_SCALING_H
#define USMP_SCALING_H

#include "arithmetic.h"
#include "dsp.h"
#include "usmp.h"

/* What a value is multiplied by before it is shifted right by `less` + 1 bits, less 2^32. */
struct usmp_scaling {
    int32_t excess;
    int32_t less;
};

/* Of a factor multiplier * 2^(-31 - right) below 1/2, or 1/2 itself for even values; a multiplier that is not 0 has 31
 * bits. */
static inline struct usmp_scaling usmp_scaling_by(int32_t multiplier, int32_t right)
{
    struct usmp_scaling scaling = {(int32_t)((uint32_t)multiplier * 2), right - 1};

    if (multiplier == 0) {
        scaling.excess = INT32_MIN;
        scaling.less = 31;
    } else if (right == 0) { /* a half: the shift by one bit alone */
        scaling.excess = 0;
        scaling.less = 0;
    }
    return scaling;
}

/* value * factor, plus half of `more`: 1 + 2 * a zero point to add, or 1. */
static inline int32_t usmp_scaled(int32_t value, struct usmp_scaling scaling, int32_t more)
{
    const int32_t high = usmp_multiply_high_dsp(value, scaling.excess);
    return (((high + (high >> 31)) >> scaling.less) + more) >> 1;
}

/* The same as `usmp_scale`, of a multiplier that is 0 or has 31 bits: in fewer instructions if the factor is below 1/4,
 * as it is not where the multiplier is 0. */
static inline int32_t usmp_scaled_by_any(int32_t value, int32_t multiplier, int32_t shift)
{
    if (shift < -1) {
        const struct usmp_scaling scaling = {(int32_t)((uint32_t)multiplier * 2), -1 - shift};
        return usmp_scaled(value, scaling, 1);
    }
    return usmp_scale(value, multiplier, shift);
}

/* The nearest number of a type. */
static inline int32_t usmp_saturated_s8(int32_t value)
{
#if USMP_DSP
    __asm__("ssat %0, #8, %0" : "+r"(value));
    return value;
#else
    return value < INT8_MIN ? INT8_MIN : value > INT8_MAX ? INT8_MAX : value;
#endif
}

static inline int32_t usmp_saturated_s16(int32_t value)
{
#if USMP_DSP
    __asm__("ssat %0, #16, %0" : "+r"(value));
    return value;
#else
    return value < INT16_MIN ? INT16_MIN : value > INT16_MAX ? INT16_MAX : value;
#endif
}

/* Whether limits are those of a type. */
static inline int usmp_is_range_s8(int32_t low, int32_t high)
{
    return low == INT8_MIN && high == INT8_MAX;
}

static inline int usmp_is_range_s16(int32_t low, int32_t high)
{
    return low == INT16_MIN && high == INT16_MAX;
}

#endif
