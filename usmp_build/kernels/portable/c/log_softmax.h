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

#endif
