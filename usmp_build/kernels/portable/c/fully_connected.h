/* FULLY_CONNECTED: for each output a filter of `inputs` weights, one after the other. */
#ifndef USMP_FULLY_CONNECTED_H
#define USMP_FULLY_CONNECTED_H

#include "usmp.h"

/* Low and high are the limits of the output less its zero point. */
struct usmp_fully_connected_s8_parameters {
    int32_t batches;
    int32_t inputs;
    int32_t outputs;
#if USMP_S8
    int32_t input_zero_point;
    int32_t weights_zero_point;
    int32_t output_zero_point;
#endif
    usmp_number low;
    usmp_number high;
    int32_t direction; /* 1 forward, -1 backward */
};

#endif
