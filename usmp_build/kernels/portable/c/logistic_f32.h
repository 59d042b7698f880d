/* The logistic function of a float. */
#ifndef USMP_LOGISTIC_F32_H
#define USMP_LOGISTIC_F32_H

#include <math.h>

#include "usmp.h"

/* 1 / (1 + e^-x).  Below -9 it is e^x, above 16.62 it is 1: there TensorFlow Lite Micro leaves the formula. */
static inline float usmp_logistic_of(float x)
{
    if (x > 16.619047164916992f) {
        return 1.0f;
    }
    return x < -9.0f ? expf(x) : 1.0f / (1.0f + expf(-x));
}

#endif
