/* L2_NORMALIZATION along the innermost axis. */
#ifndef USMP_L2_NORMALIZATION_H
#define USMP_L2_NORMALIZATION_H

#include "usmp.h"

/* The zero point is that of the input; of floats it is 0. */
struct usmp_l2_normalization_parameters {
    int32_t rows;
    int32_t size;
    int32_t zero_point;
    int32_t direction; /* 1 forward, -1 backward */
};

/* The output's scale is 1/128, its zero point 0. */
void usmp_l2_normalization_s8(
    const struct usmp_l2_normalization_parameters *p, const int8_t *input, int8_t *output);

/* A norm below 1e-6 counts as 1e-6. */
void usmp_l2_normalization_f32(
    const struct usmp_l2_normalization_parameters *p, const usmp_f32 *input, usmp_f32 *output);

#endif
