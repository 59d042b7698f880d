/* MUL. */
#ifndef USMP_MUL_H
#define USMP_MUL_H

#include "usmp.h"

/* Low and high are the limits of the output less its zero point. */
struct usmp_mul_s8_parameters {
    int32_t size;
    int32_t first_zero_point;
    int32_t second_zero_point;
    int32_t multiplier;
    int32_t shift;
    int32_t output_zero_point;
    int32_t low;
    int32_t high;
    int32_t direction; /* 1 forward, -1 backward */
};

struct usmp_mul_s32_parameters {
    int32_t size;
    int32_t low;
    int32_t high;
    int32_t direction; /* 1 forward, -1 backward */
};

struct usmp_mul_f32_parameters {
    int32_t size;
    float low;
    float high;
    int32_t direction; /* 1 forward, -1 backward */
};

/* Two tensors of one shape. */
void usmp_mul_s8(
    const struct usmp_mul_s8_parameters *p, const int8_t *first, const int8_t *second, int8_t *output);

/* Two tensors of which at least one is stretched.  `axes` has three numbers for each of five axes of the output, the
 * innermost last: its size, and how far one step along it moves in `first` and in `second`. */
void usmp_mul_s8_stretched(
    const struct usmp_mul_s8_parameters *p, const int8_t *first, const int8_t *second, const int32_t *axes,
    int8_t *output);

/* Two tensors of one shape. */
void usmp_mul_f32(
    const struct usmp_mul_f32_parameters *p, const usmp_f32 *first, const usmp_f32 *second, usmp_f32 *output);

/* Two tensors of which at least one is stretched.  `axes` has three numbers for each of five axes of the output, the
 * innermost last: its size, and how far one step along it moves in `first` and in `second`. */
void usmp_mul_f32_stretched(
    const struct usmp_mul_f32_parameters *p, const usmp_f32 *first, const usmp_f32 *second,
    const int32_t *axes, usmp_f32 *output);

/* Two tensors of one shape. */
void usmp_mul_s32(
    const struct usmp_mul_s32_parameters *p, const usmp_i32 *first, const usmp_i32 *second, usmp_i32 *output);

/* Two tensors of which at least one is stretched.  `axes` has three numbers for each of five axes of the output, the
 * innermost last: its size, and how far one step along it moves in `first` and in `second`. */
void usmp_mul_s32_stretched(
    const struct usmp_mul_s32_parameters *p, const usmp_i32 *first, const usmp_i32 *second,
    const int32_t *axes, usmp_i32 *output);

#endif
