/* The bits of numbers without a sign. */
#ifndef USMP_BITS_H
#define USMP_BITS_H

#include "usmp.h"

/* How many bits a number has, from the highest that is set: 0 for 0. */
static inline int32_t usmp_bits(uint32_t number)
{
    int32_t bits = 0;

    for (int32_t half = 16; half > 0; half >>= 1) {
        if (number >> half != 0u) {
            number >>= half;
            bits += half;
        }
    }
    return bits + (number != 0u);
}

/* The lowest 16 bits, as a number with a sign: compilers leave it at that. */
static inline int16_t usmp_low_16(int32_t number)
{
    return (int16_t)(uint16_t)number;
}

#endif
