/* AVERAGE_POOL_2D and MAX_POOL_2D: what lies outside of the image is not counted, unless a mean says so.  The mean of a
 * whole image can also be made by adding up its rows. */
#ifndef USMP_POOL_2D_H
#define USMP_POOL_2D_H

#include "usmp.h"

/* Stride and `before`, the padding to the left, are in pixels along the row.  With `counts_outside` a mean counts
 * pixels outside of the image, each with the value `outside`.  Pitches are in elements from one pixel to the next. */
struct usmp_pool_2d_s8_parameters {
    int32_t input_width;
    int32_t channels;
    int32_t output_width;
    int32_t window_height;
    int32_t window_width;
    int32_t stride;
    int32_t before;
    int32_t low;
    int32_t high;
    int32_t outside;
    int32_t counts_outside;
    int32_t input_pitch;
    int32_t output_pitch;
    int32_t direction; /* 1 forward, -1 backward */
};

/* Stride and `before`, the padding to the left, are in pixels along the row.  With `counts_outside` a mean counts
 * pixels outside of the image, each with the value `outside`.  Pitches are in elements from one pixel to the next. */
struct usmp_pool_2d_f32_parameters {
    int32_t input_width;
    int32_t channels;
    int32_t output_width;
    int32_t window_height;
    int32_t window_width;
    int32_t stride;
    int32_t before;
    float low;
    float high;
    float outside;
    int32_t counts_outside;
    int32_t input_pitch;
    int32_t output_pitch;
    int32_t direction; /* 1 forward, -1 backward */
};

/* The mean of a whole image: `count` is the number of its pixels, `width` that of a row. */
struct usmp_global_average_pool_2d_s8_parameters {
    int32_t width;
    int32_t channels;
    int32_t count;
    int32_t low;
    int32_t high;
    int32_t direction; /* 1 forward, -1 backward */
};

/* The mean of a whole image: `count` is the number of its pixels, `width` that of a row. */
struct usmp_global_average_pool_2d_f32_parameters {
    int32_t width;
    int32_t channels;
    int32_t count;
    float low;
    float high;
    int32_t direction; /* 1 forward, -1 backward */
};

/* One output row from the input rows under the window; a row that is NULL is padding. */
void usmp_average_pool_2d_s8_row(
    const struct usmp_pool_2d_s8_parameters *p, const int8_t *const *rows, int8_t *output);

/* One output row from the input rows under the window; a row that is NULL is padding. */
void usmp_average_pool_2d_f32_row(
    const struct usmp_pool_2d_f32_parameters *p, const usmp_f32 *const *rows, usmp_f32 *output);

/* One output row from the input rows under the window; a row that is NULL is padding. */
void usmp_max_pool_2d_s8_row(
    const struct usmp_pool_2d_s8_parameters *p, const int8_t *const *rows, int8_t *output);

/* One output row from the input rows under the window; a row that is NULL is padding. */
void usmp_max_pool_2d_f32_row(
    const struct usmp_pool_2d_f32_parameters *p, const usmp_f32 *const *rows, usmp_f32 *output);

/* Clears the sums. */
void usmp_global_average_pool_2d_s8_begin(
    const struct usmp_global_average_pool_2d_s8_parameters *p, usmp_i32 *sums);

/* Adds a row. */
void usmp_global_average_pool_2d_s8_row(
    const struct usmp_global_average_pool_2d_s8_parameters *p, const int8_t *row, usmp_i32 *sums);

/* Makes means of the sums. */
void usmp_global_average_pool_2d_s8_finish(
    const struct usmp_global_average_pool_2d_s8_parameters *p, usmp_i32 *sums, int8_t *output);

/* Clears the sums. */
void usmp_global_average_pool_2d_f32_begin(
    const struct usmp_global_average_pool_2d_f32_parameters *p, usmp_f32 *sums);

/* Adds a row. */
void usmp_global_average_pool_2d_f32_row(
    const struct usmp_global_average_pool_2d_f32_parameters *p, const usmp_f32 *row, usmp_f32 *sums);

/* Makes means of the sums. */
void usmp_global_average_pool_2d_f32_finish(
    const struct usmp_global_average_pool_2d_f32_parameters *p, usmp_f32 *sums, usmp_f32 *output);

#endif
