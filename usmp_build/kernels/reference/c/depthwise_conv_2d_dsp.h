/* DEPTHWISE_CONV_2D with Arm's DSP extension. */
#ifndef USMP_DEPTHWISE_CONV_2D_DSP_H
#define USMP_DEPTHWISE_CONV_2D_DSP_H

#include "depthwise_conv_2d.h"

/* One output row with one filter for each channel and a window of at most 64 pixels, from the input rows under it; a
 * row that is NULL is padding.  `zeros` is a pixel of the input's zero point. */
void usmp_depthwise_conv_2d_s8_dsp_row(
    const struct usmp_depthwise_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed,
    const int8_t *zeros, int8_t *output);

/* The same with up to 32 filters for each channel. */
void usmp_depthwise_conv_2d_repeated_s8_dsp_row(
    const struct usmp_depthwise_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed,
    const int8_t *zeros, int8_t *output);

/* The same two for int16; with several filters for each channel, a window has at most 32 pixels. */
void usmp_depthwise_conv_2d_s16_dsp_row(
    const struct usmp_depthwise_conv_2d_s16_parameters *p, const usmp_i16 *const *rows, const int32_t *packed,
    const usmp_i16 *zeros, usmp_i16 *output);

void usmp_depthwise_conv_2d_repeated_s16_dsp_row(
    const struct usmp_depthwise_conv_2d_s16_parameters *p, const usmp_i16 *const *rows, const int32_t *packed,
    const usmp_i16 *zeros, usmp_i16 *output);

#endif
