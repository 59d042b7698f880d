/* CONV_2D with Arm's DSP extension; `packed` is laid out as dot_dsp.h and dot_s16_dsp.h say. */
#ifndef USMP_CONV_2D_DSP_H
#define USMP_CONV_2D_DSP_H

#include "usmp.h"

/* Stride, dilation and `before`, the padding to the left, are in pixels along the row.  Low and high are the limits of
 * the output.  Pitches are in elements from one pixel to the next. */
struct usmp_conv_2d_s8_dsp_parameters {
    int32_t input_width;
    int32_t input_channels;
    int32_t output_width;
    int32_t output_channels;
    int32_t window_height;
    int32_t window_width;
    int32_t stride;
    int32_t dilation;
    int32_t before;
    int32_t input_zero_point; /* 0 of int16 */
#if USMP_S8
    int32_t rounding; /* 1 + 2 * the output's zero point */
#endif
    int32_t low;
    int32_t high;
    int32_t is_clamped; /* whether the limits are not those of the type */
#if USMP_S8
    int32_t is_wide;    /* whether weights are in `packed` as if for wide sums */
    int32_t is_divided; /* 1 if each row of the window has sums of its own, 2 if each pixel has */
#endif
    int32_t input_pitch;
    int32_t output_pitch;
    int32_t direction; /* 1 forward, -1 backward */
};

#endif
