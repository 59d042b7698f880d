/* SOFTMAX along the innermost axis. */
#ifndef USMP_SOFTMAX_H
#define USMP_SOFTMAX_H

#include "usmp.h"

/* The factor, beta included, brings the distance from a row's maximum to 26 bits after the point; what is farther
 * away than `reach` counts as nothing. */
struct usmp_softmax_s8_parameters {
    int32_t rows;
    int32_t size;
    int32_t multiplier;
    int32_t shift;
    int32_t reach;
    int32_t direction; /* 1 forward, -1 backward */
};

/* The factor, beta included, brings the distance from a row's maximum to 65535 for 10. */
struct usmp_softmax_s16_parameters {
    int32_t rows;
    int32_t size;
    int32_t multiplier;
    int32_t shift;
    int32_t direction; /* 1 forward, -1 backward */
};

struct usmp_softmax_f32_parameters {
    int32_t rows;
    int32_t size;
    float beta;
    int32_t direction; /* 1 forward, -1 backward */
};

/* The output's scale is 1/256, its zero point -128. */
void usmp_softmax_s8(const struct usmp_softmax_s8_parameters *p, const int8_t *input, int8_t *output);

/* The output's scale is 1/65536, its zero point -32768. */
void usmp_softmax_s8_s16(const struct usmp_softmax_s8_parameters *p, const int8_t *input, usmp_i16 *output);

/* The output's scale is 1/32768, its zero point 0.  Tables, as in usmp_interpolated: e^x from -10 to 0, and 1 / (1 + x)
 * from 0 to 1. */
void usmp_softmax_s16(
    const struct usmp_softmax_s16_parameters *p, const usmp_i16 *input, const int16_t *exponentials,
    const int16_t *reciprocals, usmp_i16 *output);

void usmp_softmax_f32(const struct usmp_softmax_f32_parameters *p, const usmp_f32 *input, usmp_f32 *output);

#endif
