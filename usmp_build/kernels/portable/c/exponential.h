/* The exponential function and the reciprocal in fixed point, as gemmlowp defines them.
 * Qn.m is a number with n bits before the point and m after it; all numbers here are int32_t. */
#ifndef USMP_EXPONENTIAL_H
#define USMP_EXPONENTIAL_H

#include "arithmetic.h"
#include "dsp.h"

/* a * b / 2^32, rounded to the nearest, halves upwards: as `usmp_multiply_high` of a half of one of them, in fewer
 * instructions. */
static inline int32_t usmp_product_q32(int32_t a, int32_t b)
{
    return usmp_scaled_s16_dsp(a, b);
}

/* e^x for x in [-1/4, 0), both Q0.31: e^(-1/8) times the Taylor series around -1/8, up to the fourth power.  Even powers
 * are not below 0, nor are sums with them: so halves are away from zero where they go upwards. */
static inline int32_t usmp_exp_of_quarter(int32_t x)
{
    const int32_t factor = 1895147668; /* e^(-1/8) */
    const int32_t twice_third = 1431655766;
    const int32_t y = x + (1 << 28);
    const int32_t y2 = usmp_product_q32(2 * y, y);
    const int32_t y3 = usmp_product_q32(2 * y, y2);
    const int32_t y4 = usmp_product_q32(2 * y2, y2);
    const int32_t higher = usmp_product_q32(((y4 + 2) >> 2) + y3, twice_third);
    const int32_t series = y + ((higher + y2 + 1) >> 1);
    return factor + usmp_product_q32(factor, 2 * series);
}

/* e^x for x <= 0 in Q5.26, as Q0.31: the part of x below a quarter by the series, the whole quarters by a factor for
 * each of their bits. */
static inline int32_t usmp_exp_of_negative(int32_t x)
{
    /* Twice e^(-1/4), e^(-1/2), e^-1, e^-2, e^-4, e^-8, e^-16 */
    static const uint32_t factors[7] = {3344923894, 2605029348, 1580030168, 581260616, 78665070, 1440802, 484};
    const int32_t quarter = 1 << 24;
    const int32_t part = (int32_t)((uint32_t)x % (1u << 24)) - quarter;
    const uint32_t *factor = factors;
    uint32_t result = (uint32_t)usmp_exp_of_quarter(part * 32);

    if (x == 0) {
        return INT32_MAX;
    }
    for (uint32_t quarters = (uint32_t)(part - x) / (1u << 24); quarters != 0; quarters /= 2) {
        if (quarters % 2 == 1) {
            result = (uint32_t)(((uint64_t)result * *factor + (1u << 31)) >> 32);
        }
        ++factor;
    }
    return (int32_t)result;
}

/* value * 2^count, or the nearest end of int32_t. */
static inline int32_t usmp_shift_left(int32_t value, int32_t count)
{
    const int32_t limit = INT32_MAX >> count;

    if (value > limit) {
        return INT32_MAX;
    }
    return value < -limit ? INT32_MIN : value * (1 << count);
}

/* 1 / (1 + x) for x in [0, 1), both Q0.31: Newton's steps towards 1 / half, where half = (1 + x) / 2, in Q2.29.  Of an x
 * of -1 it makes what TensorFlow Lite Micro makes of it, where sums wrap. */
static inline int32_t usmp_reciprocal(int32_t x)
{
    const int64_t sum = (int64_t)x + INT32_MAX;
    const int32_t half = (int32_t)((sum + (sum < 0 ? -1 : 1)) / 2);
    int32_t result = 1515870810 + usmp_multiply_high(half, -1010580540); /* 48/17 - 32/17 * half */

    for (int32_t step = 0; step < 3; ++step) {
        const int32_t error = (1 << 29) - usmp_multiply_high(half, result);
        const int32_t change = usmp_shift_left(usmp_multiply_high(result, error), 2);

        result = (int32_t)((uint32_t)result + (uint32_t)change);
    }
    return usmp_shift_left(result, 1);
}

#endif
