/* MUL of int8 with Helium.  The shift is to the right. */
#ifndef USMP_MUL_MVE_H
#define USMP_MUL_MVE_H

#include "mul.h"

/* Two tensors of one shape. */
void usmp_mul_s8_mve(
    const struct usmp_mul_s8_parameters *p, const int8_t *first, const int8_t *second, int8_t *output);

/* Two tensors, at least one of them stretched; axes are as in mul.h. */
void usmp_mul_s8_mve_stretched(
    const struct usmp_mul_s8_parameters *p, const int8_t *first, const int8_t *second, const int32_t *axes,
    int8_t *output);

#endif
