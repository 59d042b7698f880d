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

#endif
