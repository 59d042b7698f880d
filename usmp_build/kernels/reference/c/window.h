/* Windows that slide along a row and may hang over its ends. */
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

#endif
