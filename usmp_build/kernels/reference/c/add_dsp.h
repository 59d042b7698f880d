/* ADD and SUB of int8 with Arm's DSP extension. */
#ifndef USMP_ADD_DSP_H
#define USMP_ADD_DSP_H

#include "add.h"

/* Two tensors of one shape.  Shifts are at least 1; those of the operands may also be 0, with a multiplier of 2^30 or
 * 0. */
void usmp_add_s8_dsp(
    const struct usmp_add_s8_parameters *p, const int8_t *first, const int8_t *second, int8_t *output);

#endif
