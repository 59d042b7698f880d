/* The pixels under a window, one by one. */
#ifndef USMP_TAPS_H
#define USMP_TAPS_H

#include "usmp.h"
#include "window.h"

/* Whether no row under the window is padding. */
static inline int usmp_are_all_inside_s8(const int8_t *const *rows, int32_t height)
{
    int are_inside = 1;

    for (int32_t y = 0; y < height; ++y) {
        are_inside = are_inside && rows[y] != NULL;
    }
    return are_inside;
}

/* The rows under the window that are not padding, which is above or below them. */
static inline struct usmp_taps usmp_rows_inside_s8(const int8_t *const *rows, int32_t height)
{
    struct usmp_taps inside = {0, height};

    while (inside.first < height && rows[inside.first] == NULL) {
        ++inside.first;
    }
    while (inside.end > inside.first && rows[inside.end - 1] == NULL) {
        --inside.end;
    }
    return inside;
}

/* The positions, of `count`, at which no pixel under the window is padding; `reach` is from the first pixel under it to
 * the one after the last. */
static inline struct usmp_taps usmp_positions_inside_s8(
    const int8_t *const *rows, int32_t height, int32_t reach, int32_t stride, int32_t before, int32_t input_width,
    int32_t count)
{
    const int32_t space = input_width + before - reach; /* from the first position to the last one inside */
    struct usmp_taps inside = {0, 0};

    if (space >= 0 && usmp_are_all_inside_s8(rows, height)) {
        inside.first = (before + stride - 1) / stride;
        inside.end = space / stride < count ? space / stride + 1 : count;
    }
    return inside;
}

/* Finds them, row by row, into an array of height * width pointers: from its first element on (`step` is 1), or from its
 * last one down (-1).  A pixel outside of the image is `zeros`. */
static inline void usmp_find_taps_s8(
    const int8_t *const *rows, const int8_t *zeros, int32_t height, int32_t width, int32_t start, int32_t dilation,
    int32_t input_width, int32_t pitch, int32_t step, const int8_t **taps)
{
    const struct usmp_taps inside = usmp_taps_inside(start, dilation, width, input_width);
    const int32_t before = inside.first < width ? inside.first : width;
    const int8_t **next = step < 0 ? taps + height * width - 1 : taps;

    for (int32_t y = 0; y < height; ++y) {
        const int8_t *const row = rows[y];
        int32_t tap = 0;

        if (row != NULL) {
            int32_t offset = (start + before * dilation) * pitch;

            for (; tap < before; ++tap, next += step) {
                *next = zeros;
            }
            for (; tap < inside.end; ++tap, next += step, offset += dilation * pitch) {
                *next = row + offset;
            }
        }
        for (; tap < width; ++tap, next += step) {
            *next = zeros;
        }
    }
}

#endif
