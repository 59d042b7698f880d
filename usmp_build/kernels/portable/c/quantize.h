/* QUANTIZE from floats and DEQUANTIZE to floats. */
#ifndef USMP_QUANTIZE_H
#define USMP_QUANTIZE_H

#include "usmp.h"

struct usmp_quantize_parameters {
    int32_t size;
    float scale;
    int32_t zero_point;
    int32_t direction; /* 1 forward, -1 backward */
};

#endif
