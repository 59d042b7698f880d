/* TRANSPOSE_CONV: how inputs reach outputs. */
#ifndef USMP_TRANSPOSE_CONV_H
#define USMP_TRANSPOSE_CONV_H

#include "usmp.h"

/* An input reaches a window of outputs: that of input 0 begins `above` rows and `before` pixels before the first
 * output, the next ones `stride_down` rows and `stride` pixels later.  Low and high are the limits of the output
 * less its zero point.  Pitches are in elements from one pixel to the next. */
struct usmp_transpose_conv_s8_parameters {
    int32_t input_width;
    int32_t input_channels;
    int32_t output_width;
    int32_t output_channels;
    int32_t window_height;
    int32_t window_width;
    int32_t stride_down;
    int32_t stride;
    int32_t above;
    int32_t before;
#if USMP_S8
    int32_t input_zero_point;
    int32_t output_zero_point;
#endif
    usmp_number low;
    usmp_number high;
    int32_t input_pitch;
    int32_t output_pitch;
    int32_t direction; /* 1 forward, -1 backward */
};

/* How many taps of a window the outputs of a phase use, and those of all phases before it.  The phase of an output is the
 * rest of its position, `before` added, divided by the stride. */
static inline int32_t usmp_taps_of_phase(int32_t window, int32_t stride, int32_t phase)
{
    return (window - phase + stride - 1) / stride;
}

static inline int32_t usmp_taps_before(int32_t window, int32_t stride, int32_t phase)
{
    const int32_t rest = window % stride;
    return window / stride * phase + (phase < rest ? phase : rest);
}

#endif
