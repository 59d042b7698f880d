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

#endif
