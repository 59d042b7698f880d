/* QUANTIZE from integers to integers, and RELU: to another scale and zero point. */
#ifndef USMP_REQUANTIZE_H
#define USMP_REQUANTIZE_H

#include "arithmetic.h"
#include "usmp.h"

/* Low and high are the limits of the output less its zero point. */
struct usmp_requantize_parameters {
    int32_t size;
    int32_t input_zero_point;
    int32_t multiplier;
    int32_t shift;
    int32_t output_zero_point;
    int32_t low;
    int32_t high;
    int32_t direction; /* 1 forward, -1 backward */
};

static inline int32_t usmp_requantize_one(const struct usmp_requantize_parameters *p, int32_t value)
{
    const int32_t scaled = usmp_scale(value - p->input_zero_point, p->multiplier, p->shift);
    return usmp_clamp(scaled, p->low, p->high) + p->output_zero_point;
}

#endif
