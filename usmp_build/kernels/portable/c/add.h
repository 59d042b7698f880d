/* ADD, and SUB, which differs by a sign. */
#ifndef USMP_ADD_H
#define USMP_ADD_H

#include "usmp.h"

/* Both operands, less their zero points, are brought to one scale, with 20 bits after the point for int8_t and 15 for
 * int16_t.  Shifts are to the right.  `sign` is that of the second operand: 1 adds, -1 subtracts.  Low and high are the
 * limits of the output less its zero point. */
struct usmp_add_s8_parameters {
    int32_t size;
    int32_t first_zero_point;
    int32_t first_multiplier;
    int32_t first_shift;
    int32_t second_zero_point;
    int32_t second_multiplier;
    int32_t second_shift;
    int32_t sign;
    int32_t output_multiplier;
    int32_t output_shift;
    int32_t output_zero_point;
    int32_t low;
    int32_t high;
    int32_t direction; /* 1 forward, -1 backward */
};

#endif
