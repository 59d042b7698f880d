/* CONV_2D with Arm's DSP extension; `packed` is laid out as dot_dsp.h says. */
#ifndef USMP_CONV_2D_DSP_H
#define USMP_CONV_2D_DSP_H

#include "conv_2d.h"

/* One output row with a window of one pixel that is never outside of the row. */
void usmp_conv_2d_1x1_s8_dsp_row(
    const struct usmp_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed, int8_t *output);

/* One output row with a window of at most 64 pixels, from the input rows under it; a row that is NULL is padding.  Each
 * pixel is a run.  `zeros` is a pixel of the input's zero point. */
void usmp_conv_2d_s8_dsp_row(
    const struct usmp_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed,
    const int8_t *zeros, int8_t *output);

/* One output row with a window of at most 64 bytes, from the input rows under it; a row that is NULL is padding.  All
 * bytes are one run. */
void usmp_conv_2d_patch_s8_dsp_row(
    const struct usmp_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed, int8_t *output);

/* The same with a window of at most 256 bytes. */
void usmp_conv_2d_large_patch_s8_dsp_row(
    const struct usmp_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed, int8_t *output);

#endif
