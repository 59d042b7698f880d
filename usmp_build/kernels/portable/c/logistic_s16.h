/* The logistic function and tanh of an int16, both from one table, for tanh(x) = 2 logistic(2x) - 1.
 *
 * The table has the logistic of 0, 1/24, 2/24, ... 255/24 with 16 bits after the point.  x is given as a multiple of
 * 1/12288: an int16 with 12 bits after the point times 3. */
#ifndef USMP_LOGISTIC_S16_H
#define USMP_LOGISTIC_S16_H

#include "usmp.h"

/* Returns what the table has at `place`, a number of steps with `bits` bits after the point, between two of its values;
 * with 16 + `bits` bits after the point. */
static inline uint32_t usmp_logistic_at(const uint16_t *table, uint32_t place, int32_t bits)
{
    const uint32_t step = place >> bits;
    const uint32_t part = place - (step << bits);
    return ((uint32_t)table[step] << bits) + part * (uint32_t)(table[step + 1] - table[step]);
}

/* 1 / (1 + e^-x), Q0.15. */
static inline int32_t usmp_logistic_q15(const uint16_t *table, int32_t x)
{
    const uint32_t place = x < 0 ? 0u - (uint32_t)x : (uint32_t)x;
    const uint32_t value = place >> 9 < 255 ? usmp_logistic_at(table, place, 9) : 32767u << 10;
    const uint32_t half = 1u << 9;
    return (int32_t)((x < 0 ? (1u << 25) - value + half - 1 : value + half) >> 10);
}

/* tanh(x), Q0.15. */
static inline int32_t usmp_tanh_q15(const uint16_t *table, int32_t x)
{
    const uint32_t place = x < 0 ? 0u - (uint32_t)x : (uint32_t)x;
    const uint32_t value = place >> 8 < 255 ? usmp_logistic_at(table, place, 8) : 65535u << 8;
    const int32_t above = (int32_t)value - (1 << 23); /* Q1.23, of the half that is not below 0 */
    const int32_t half = 1 << 7;
    return (x < 0 ? half - 1 - above : above + half) >> 8;
}

#endif
