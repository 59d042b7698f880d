/* MEAN and SUM over `width` neighbors in a row and over all rows of an image, for each of `channels` sums. */
#ifndef USMP_MEAN_H
#define USMP_MEAN_H

#include "usmp.h"

/* `offset` is added to each sum: it takes the zero point of all inputs away.  The factor also divides by
 * their number, but for SUM.
 * Low and high are the limits of the output less its zero point. */
struct usmp_mean_s8_parameters {
    int32_t width;
    int32_t channels;
    int32_t offset;
    int32_t multiplier;
    int32_t shift;
    int32_t output_zero_point;
    int32_t low;
    int32_t high;
    int32_t direction; /* 1 forward, -1 backward */
};

struct usmp_mean_f32_parameters {
    int32_t width;
    int32_t channels;
    float divisor;
    int32_t direction; /* 1 forward, -1 backward */
};

#endif
