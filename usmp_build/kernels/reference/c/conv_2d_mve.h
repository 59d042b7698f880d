/* CONV_2D with Helium; `packed` is laid out as dot_mve.h says. */
#ifndef USMP_CONV_2D_MVE_H
#define USMP_CONV_2D_MVE_H

#include "conv_2d.h"

/* One output row with a window of one row and at most 64 bytes side by side, which is never outside of the image. */
void usmp_conv_2d_short_s8_mve_row(
    const struct usmp_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed, int8_t *output);

/* One output row with a window of at most 64 pixels, from the input rows under it; a row that is NULL is padding.  Each
 * pixel is a run.  `zeros` is a pixel of the input's zero point; NULL if nothing is outside of the image. */
void usmp_conv_2d_s8_mve_row(
    const struct usmp_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed,
    const int8_t *zeros, int8_t *output);

/* One output row with a window of at most 64 rows, all inside of the image, whose pixels are contiguous.  Each row is a
 * run. */
void usmp_conv_2d_rows_s8_mve_row(
    const struct usmp_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed, int8_t *output);

/* One output row with a window of at most 64 bytes, from the input rows under it; a row that is NULL is padding.  All
 * bytes are one run. */
void usmp_conv_2d_patch_s8_mve_row(
    const struct usmp_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed, int8_t *output);

/* The same with a window of at most 256 bytes, and of 64 pixels where they lie apart. */
void usmp_conv_2d_large_patch_s8_mve_row(
    const struct usmp_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed, int8_t *output);

#endif
