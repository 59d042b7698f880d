/* DEPTHWISE_CONV_2D with Helium: one filter for each channel, and windows of at most 64 pixels; `packed` is laid out as
 * channels_mve.h says. */
#ifndef USMP_DEPTHWISE_CONV_2D_MVE_H
#define USMP_DEPTHWISE_CONV_2D_MVE_H

#include "conv_2d.h"

/* One output row from the input rows under the window, sixteen channels at a time; a row that is NULL is padding.
 * `zeros` is a pixel of the input's zero point; NULL if nothing is outside of the image. */
void usmp_depthwise_conv_2d_s8_mve_row(
    const struct usmp_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed,
    const int8_t *zeros, int8_t *output);

/* The same, eight channels at a time. */
void usmp_depthwise_conv_2d_eights_s8_mve_row(
    const struct usmp_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed,
    const int8_t *zeros, int8_t *output);

#endif
