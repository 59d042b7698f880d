/* RESIZE_NEAREST_NEIGHBOR and RESIZE_BILINEAR: an image with another number of pixels along its axes. */
#ifndef USMP_RESIZE_H
#define USMP_RESIZE_H

#include "arithmetic.h"
#include "usmp.h"

/* `lines` are the rows of all output images.  Pixels have `size` bytes, of any type. */
struct usmp_resize_nearest_parameters {
    int32_t lines;
    int32_t input_height;
    int32_t input_width;
    int32_t output_height;
    int32_t output_width;
    int32_t size;
    int32_t direction; /* 1 forward, -1 backward */
};

struct usmp_resize_nearest_row_parameters {
    int32_t output_width;
    int32_t size;
    int32_t direction; /* 1 forward, -1 backward */
};

/* Row y of the output is at (y + center) * row_scale - center of the input; so are columns. */
struct usmp_resize_bilinear_f32_parameters {
    int32_t lines;
    int32_t input_height;
    int32_t input_width;
    int32_t output_height;
    int32_t output_width;
    int32_t channels;
    float row_scale;
    float column_scale;
    float center;
    int32_t direction; /* 1 forward, -1 backward */
};

/* An index that may be a little outside of [0, size). */
static inline int32_t usmp_inside(int32_t index, int32_t size)
{
    return usmp_clamp(index, 0, size - 1);
}

/* What is `part` / 1024 of the way from `above` to `below`, which have ten bits after the point. */
static inline int32_t usmp_blended_s8(int32_t above, int32_t below, int32_t part)
{
    return usmp_shift_right(above * (1024 - part) + below * part, 20);
}

static inline int32_t usmp_blended_s16(int32_t above, int32_t below, int32_t part)
{
    const int64_t sum = (int64_t)above * (1024 - part) + (int64_t)below * part;
    return (int32_t)((sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20));
}

#endif
