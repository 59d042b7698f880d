/* MUL. */
#ifndef USMP_MUL_H
#define USMP_MUL_H

#include "usmp.h"

/* Low and high are the limits of the output less its zero point. */
struct usmp_mul_s8_parameters {
    int32_t size;
    int32_t first_zero_point;
    int32_t second_zero_point;
    int32_t multiplier;
    int32_t shift;
    int32_t output_zero_point;
    int32_t low;
    int32_t high;
    int32_t direction; /* 1 forward, -1 backward */
};

#endif
