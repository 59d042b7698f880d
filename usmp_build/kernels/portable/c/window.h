/* Windows that slide along a row and may hang over its ends; and windows that are as high as the image. */
#ifndef USMP_WINDOW_H
#define USMP_WINDOW_H

#include "usmp.h"

/* The taps of a window that lie inside the row: [first, end). */
struct usmp_taps {
    int32_t first;
    int32_t end;
};

/* `start` is where tap 0 lies: in or before the row of `width` pixels. */
static inline struct usmp_taps usmp_taps_inside(
    int32_t start, int32_t dilation, int32_t window, int32_t width)
{
    struct usmp_taps taps;
    taps.first = start < 0 ? (dilation - 1 - start) / dilation : 0;
    taps.end = start + (window - 1) * dilation < width ? window : (width - start + dilation - 1) / dilation;
    return taps;
}

/* The inputs of a transposed convolution that reach an output: each reaches `window` outputs, `stride` behind those of
 * the one before it.  `place` is that of the output, counted from the first one that input 0 reaches. */
static inline struct usmp_taps usmp_inputs_reaching(
    int32_t place, int32_t stride, int32_t window, int32_t inputs)
{
    struct usmp_taps taps;
    taps.first = place < window ? 0 : (place - window) / stride + 1;
    taps.end = place / stride < inputs ? place / stride + 1 : inputs;
    return taps;
}

/* Which row of the only window over an image is over this row of the image; -1 if none is. */
static inline int32_t usmp_window_row(int32_t row, int32_t before, int32_t dilation, int32_t height)
{
    const int32_t place = row + before;
    return place % dilation == 0 && place / dilation < height ? place / dilation : -1;
}

#endif
