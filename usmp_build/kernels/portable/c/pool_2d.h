/* AVERAGE_POOL_2D and MAX_POOL_2D: what lies outside of the image is not counted, unless a mean says so.  Means
 * that are one output row can also be made by adding up the rows of the image. */
#ifndef USMP_POOL_2D_H
#define USMP_POOL_2D_H

#include "usmp.h"

/* Stride and `before`, the padding to the left, are in pixels along the row.  With `counts_outside` a mean counts
 * pixels outside of the image, each with the value `outside`.  Pitches are in elements from one pixel to the next. */
struct usmp_pool_2d_s8_parameters {
    int32_t input_width;
    int32_t channels;
    int32_t output_width;
    int32_t window_height;
    int32_t window_width;
    int32_t stride;
    int32_t before;
    usmp_number low;
    usmp_number high;
    usmp_number outside;
    int32_t counts_outside;
    int32_t input_pitch;
    int32_t output_pitch;
    int32_t direction; /* 1 forward, -1 backward */
};

/* For averages that are one output row: the window is over rows [first_row, end_row) of the image.  Unless `counted` is
 * 0, each mean counts so many pixels, those outside of the image with the value `outside`. */
struct usmp_average_pool_2d_sums_s8_parameters {
    int32_t input_width;
    int32_t channels;
    int32_t output_width;
    int32_t window_width;
    int32_t stride;
    int32_t before;
    int32_t first_row;
    int32_t end_row;
    usmp_number low;
    usmp_number high;
    usmp_number outside;
    int32_t counted;
    int32_t direction; /* 1 forward, -1 backward */
};

#endif
