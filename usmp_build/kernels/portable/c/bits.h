/* The bits of numbers without a sign. */
#ifndef USMP_BITS_H
#define USMP_BITS_H

#include "arithmetic.h"
#include "usmp.h"

/* How many bits a number has, from the highest that is set: 0 for 0. */
static inline int32_t usmp_bits(uint32_t number)
{
    return number == 0u ? 0 : 32 - usmp_leading_zeros(number);
}

/* The lowest 16 bits, as a number with a sign: compilers leave it at that. */
static inline int16_t usmp_low_16(int32_t number)
{
    return (int16_t)(uint16_t)number;
}

#endif
