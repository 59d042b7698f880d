/* LOG_SOFTMAX along the innermost axis. */
#ifndef USMP_LOG_SOFTMAX_H
#define USMP_LOG_SOFTMAX_H

#include "usmp.h"

/* The factor brings the distance from a row's maximum to 26 bits after the point, `back` brings it back; what is farther
 * away than `reach` counts as nothing. */
struct usmp_log_softmax_s8_parameters {
    int32_t rows;
    int32_t size;
    int32_t multiplier;
    int32_t shift;
    int32_t reach;
    int32_t back_multiplier;
    int32_t back_shift;
    int32_t direction; /* 1 forward, -1 backward */
};

struct usmp_log_softmax_f32_parameters {
    int32_t rows;
    int32_t size;
    int32_t direction; /* 1 forward, -1 backward */
};

/* The output's scale is 1/16, its zero point 127. */
void usmp_log_softmax_s8(
    const struct usmp_log_softmax_s8_parameters *p, const int8_t *input, int8_t *output);

void usmp_log_softmax_f32(
    const struct usmp_log_softmax_f32_parameters *p, const usmp_f32 *input, usmp_f32 *output);

#endif
