/* Fixed-point arithmetic on int32_t: rounding as in TensorFlow Lite Micro, and overflow that wraps, never undefined.
 * Shifting a negative number to the right keeps its sign: C leaves that to compilers, and they all do. */
#ifndef USMP_ARITHMETIC_H
#define USMP_ARITHMETIC_H

#include "usmp.h"

/* The sum, modulo 2^32. */
static inline int32_t usmp_add(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

/* The product, modulo 2^32. */
static inline int32_t usmp_multiply(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a * (uint32_t)b);
}

/* Bits after the point where operands of a type are brought to one scale: as many as their sum leaves of 32. */
static inline int32_t usmp_fraction_bits_s8(void)
{
    return 20;
}

static inline int32_t usmp_fraction_bits_s16(void)
{
    return 15;
}

/* a * b / 2^31, rounded to the nearest, halves upwards. */
static inline int32_t usmp_multiply_high(int32_t a, int32_t b)
{
    return (int32_t)(((int64_t)a * b + ((int64_t)1 << 30)) >> 31);
}

/* value / 2^count for a count of 0 to 31, rounded to the nearest, halves away from zero: numbers below 0 are made a
 * little less, then all halves go upwards.  Not of INT32_MIN, which `usmp_multiply_high` never makes of a factor below 1. */
static inline int32_t usmp_shift_right(int32_t value, int32_t count)
{
    if (count == 0) {
        return value;
    }
    const int32_t twice = (value - (value < 0)) >> (count - 1);
    return (twice >> 1) + (twice & 1);
}

/* value * factor, for a factor of 0 to 1 that is given as multiplier * 2^(-31 - right). */
static inline int32_t usmp_scale_down(int32_t value, int32_t multiplier, int32_t right)
{
    return usmp_shift_right(usmp_multiply_high(value, multiplier), right);
}

/* value * factor, for a factor >= 0 that is given as multiplier * 2^(shift - 31). */
static inline int32_t usmp_scale(int32_t value, int32_t multiplier, int32_t shift)
{
    if (shift < 0) {
        return usmp_scale_down(value, multiplier, -shift);
    }
    return usmp_multiply_high((int32_t)((uint32_t)value << shift), multiplier);
}

/* sum * factor, for a sum of 48 bits and a factor of 0 to 2^7 that is given as multiplier * 2^(shift - 15), with a
 * multiplier of 15 bits: rounded once, halves upwards, by one shift that varies. */
static inline int32_t usmp_scale_wide(int64_t sum, int32_t multiplier, int32_t shift)
{
    return (int32_t)(((sum * multiplier >> (14 - shift)) + 1) >> 1);
}

/* The bits above the highest one that is set, of a number above 0. */
static inline int32_t usmp_leading_zeros(uint32_t value)
{
    int32_t count = 0;

    for (; value < 1u << 31; value <<= 1) {
        ++count;
    }
    return count;
}

static inline int32_t usmp_minimum(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static inline int32_t usmp_maximum(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static inline int32_t usmp_clamp(int32_t value, int32_t low, int32_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* A value that is not a number stays what it is. */
static inline float usmp_clamp_f32(float value, float low, float high)
{
    return value < low ? low : value > high ? high : value;
}

/* The mean of `count` numbers, rounded to the nearest, halves away from zero. */
static inline int32_t usmp_mean_of(int32_t sum, int32_t count)
{
    return sum > 0 ? (sum + count / 2) / count : (sum - count / 2) / count;
}

#endif
