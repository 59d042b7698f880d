/* CONV_2D: filters of window_height x window_width x input_channels weights, one after the other. */
#ifndef USMP_CONV_2D_H
#define USMP_CONV_2D_H

#include "usmp.h"

/* Stride, dilation and `before`, the padding to the left, are in pixels along the row.  Low and high are the limits
 * of the output less its zero point.  Pitches are in elements from one pixel to the next. */
struct usmp_conv_2d_s8_parameters {
    int32_t input_width;
    int32_t input_channels;
    int32_t output_width;
    int32_t output_channels;
    int32_t window_height;
    int32_t window_width;
    int32_t stride;
    int32_t dilation;
    int32_t before;
#if USMP_S8
    int32_t input_zero_point;
    int32_t output_zero_point;
#elif USMP_S16
    int32_t narrow; /* as in usmp_finished_s16 */
#endif
    usmp_number low;
    usmp_number high;
    int32_t input_pitch;
    int32_t output_pitch;
    int32_t direction; /* 1 forward, -1 backward */
};

/* For a window that makes one output row: `dilation_down` and `above`, the padding above it, are in rows. */
struct usmp_conv_2d_sums_s8_parameters {
    int32_t input_width;
    int32_t input_channels;
    int32_t output_width;
    int32_t output_channels;
    int32_t window_height;
    int32_t window_width;
    int32_t stride;
    int32_t dilation;
    int32_t before;
    int32_t dilation_down;
    int32_t above;
#if USMP_S8
    int32_t input_zero_point;
    int32_t output_zero_point;
#elif USMP_S16
    int32_t narrow; /* as in usmp_finished_s16 */
#endif
    usmp_number low;
    usmp_number high;
    int32_t direction; /* 1 forward, -1 backward */
};

#endif
