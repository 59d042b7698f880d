/* Sums of samples: of integers, limited to their range. */
#ifndef USMP_SIGNAL_ADDED_H
#define USMP_SIGNAL_ADDED_H

#include "arithmetic.h"
#include "usmp.h"

static inline usmp_i16 usmp_signal_added_s16(usmp_i16 a, usmp_i16 b)
{
    return (usmp_i16)usmp_clamp((int32_t)a + b, INT16_MIN, INT16_MAX);
}

static inline usmp_f32 usmp_signal_added_f32(usmp_f32 a, usmp_f32 b)
{
    return a + b;
}

#endif
