/* Numbers of a Fourier transform: floats, or integers with all bits but the sign after the point.  Sums of integers
 * wrap; products are rounded, halves upwards. */
#ifndef USMP_FIXED_COMPLEX_H
#define USMP_FIXED_COMPLEX_H

#include "arithmetic.h"
#include "usmp.h"

static inline usmp_i16 usmp_sum_s16(usmp_i16 a, usmp_i16 b)
{
    return (usmp_i16)(a + b);
}

static inline usmp_i32 usmp_sum_s32(usmp_i32 a, usmp_i32 b)
{
    return usmp_add(a, b);
}

static inline usmp_f32 usmp_sum_f32(usmp_f32 a, usmp_f32 b)
{
    return a + b;
}

static inline usmp_i16 usmp_difference_s16(usmp_i16 a, usmp_i16 b)
{
    return (usmp_i16)(a - b);
}

static inline usmp_i32 usmp_difference_s32(usmp_i32 a, usmp_i32 b)
{
    return (usmp_i32)((uint32_t)a - (uint32_t)b);
}

static inline usmp_f32 usmp_difference_f32(usmp_f32 a, usmp_f32 b)
{
    return a - b;
}

static inline usmp_i16 usmp_rounded_s16(int32_t number)
{
    return (usmp_i16)(usmp_add(number, 1 << 14) >> 15);
}

static inline usmp_i32 usmp_rounded_s32(int64_t number)
{
    return (usmp_i32)((number + ((int64_t)1 << 30)) >> 31);
}

static inline usmp_i16 usmp_product_s16(usmp_i16 a, usmp_i16 b)
{
    return usmp_rounded_s16((int32_t)a * b);
}

static inline usmp_i32 usmp_product_s32(usmp_i32 a, usmp_i32 b)
{
    return usmp_rounded_s32((int64_t)a * b);
}

static inline usmp_f32 usmp_product_f32(usmp_f32 a, usmp_f32 b)
{
    return a * b;
}

/* a * b + c * d, rounded once. */
static inline usmp_i16 usmp_products_s16(usmp_i16 a, usmp_i16 b, usmp_i16 c, usmp_i16 d)
{
    return usmp_rounded_s16(usmp_add((int32_t)a * b, (int32_t)c * d));
}

static inline usmp_i32 usmp_products_s32(usmp_i32 a, usmp_i32 b, usmp_i32 c, usmp_i32 d)
{
    return usmp_rounded_s32((int64_t)a * b + (int64_t)c * d);
}

static inline usmp_f32 usmp_products_f32(usmp_f32 a, usmp_f32 b, usmp_f32 c, usmp_f32 d)
{
    return a * b + c * d;
}

/* a * b - c * d, rounded once. */
static inline usmp_i16 usmp_products_less_s16(usmp_i16 a, usmp_i16 b, usmp_i16 c, usmp_i16 d)
{
    return usmp_rounded_s16((int32_t)a * b - (int32_t)c * d);
}

static inline usmp_i32 usmp_products_less_s32(usmp_i32 a, usmp_i32 b, usmp_i32 c, usmp_i32 d)
{
    return usmp_rounded_s32((int64_t)a * b - (int64_t)c * d);
}

static inline usmp_f32 usmp_products_less_f32(usmp_f32 a, usmp_f32 b, usmp_f32 c, usmp_f32 d)
{
    return a * b - c * d;
}

static inline usmp_i16 usmp_half_s16(usmp_i16 a)
{
    return (usmp_i16)(a >> 1);
}

static inline usmp_i32 usmp_half_s32(usmp_i32 a)
{
    return a >> 1;
}

static inline usmp_f32 usmp_half_f32(usmp_f32 a)
{
    return a * 0.5f;
}

/* Half of a sum, in more bits than the numbers have, where they are integers of 16 bits. */
static inline usmp_i16 usmp_half_sum_s16(usmp_i16 a, usmp_i16 b)
{
    return (usmp_i16)((a + b) >> 1);
}

static inline usmp_i32 usmp_half_sum_s32(usmp_i32 a, usmp_i32 b)
{
    return usmp_add(a, b) >> 1;
}

static inline usmp_f32 usmp_half_sum_f32(usmp_f32 a, usmp_f32 b)
{
    return (a + b) * 0.5f;
}

static inline usmp_i16 usmp_half_difference_s16(usmp_i16 a, usmp_i16 b)
{
    return (usmp_i16)((a - b) >> 1);
}

static inline usmp_i32 usmp_half_difference_s32(usmp_i32 a, usmp_i32 b)
{
    return usmp_difference_s32(a, b) >> 1;
}

static inline usmp_f32 usmp_half_difference_f32(usmp_f32 a, usmp_f32 b)
{
    return (a - b) * 0.5f;
}

/* a / parts, so that the sum of as many numbers does not overflow; floats stay as they are. */
static inline usmp_i16 usmp_share_s16(usmp_i16 a, int32_t parts)
{
    return usmp_product_s16(a, (usmp_i16)(INT16_MAX / parts));
}

static inline usmp_i32 usmp_share_s32(usmp_i32 a, int32_t parts)
{
    return usmp_product_s32(a, INT32_MAX / parts);
}

static inline usmp_f32 usmp_share_f32(usmp_f32 a, int32_t parts)
{
    (void)parts;
    return a;
}

/* What no stage divided: of integers nothing, all of floats. */
static inline void usmp_rest_s16(usmp_i16 *numbers, int32_t count)
{
    (void)numbers;
    (void)count;
}

static inline void usmp_rest_s32(usmp_i32 *numbers, int32_t count)
{
    (void)numbers;
    (void)count;
}

static inline void usmp_rest_f32(usmp_f32 *numbers, int32_t count)
{
    for (int32_t i = 0; i < count; ++i) {
        numbers[i] /= (float)count;
    }
}

#endif
