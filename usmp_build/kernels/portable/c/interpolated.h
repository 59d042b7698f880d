/* Functions of an int16, as tables of 513 values between which is interpolated. */
#ifndef USMP_INTERPOLATED_H
#define USMP_INTERPOLATED_H

#include "usmp.h"

/* `value` is an int16: its upper nine bits choose a step of the table, the others say how far along. */
static inline int32_t usmp_interpolated(const int16_t *table, int32_t value)
{
    const int32_t place = value - INT16_MIN;
    const int32_t base = table[place / 128];
    const int32_t slope = table[place / 128 + 1] - base;
    return base + ((slope * (place % 128) + 64) >> 7);
}

#endif
