/* QUANTIZE from integers to integers, and RELU: to another scale and zero point. */
#ifndef USMP_REQUANTIZE_H
#define USMP_REQUANTIZE_H

#include "usmp.h"

/* Low and high are the limits of the output less its zero point. */
struct usmp_requantize_parameters {
    int32_t size;
    int32_t input_zero_point;
    int32_t multiplier;
    int32_t shift;
    int32_t output_zero_point;
    int32_t low;
    int32_t high;
    int32_t direction; /* 1 forward, -1 backward */
};

void usmp_requantize_s8_s8(const struct usmp_requantize_parameters *p, const int8_t *input, int8_t *output);

void usmp_requantize_s8_u8(
    const struct usmp_requantize_parameters *p, const int8_t *input, uint8_t *output);

void usmp_requantize_u8_s8(
    const struct usmp_requantize_parameters *p, const uint8_t *input, int8_t *output);

void usmp_requantize_s8_s16(
    const struct usmp_requantize_parameters *p, const int8_t *input, usmp_i16 *output);

void usmp_requantize_s16_s8(
    const struct usmp_requantize_parameters *p, const usmp_i16 *input, int8_t *output);

void usmp_requantize_s16_s16(
    const struct usmp_requantize_parameters *p, const usmp_i16 *input, usmp_i16 *output);

void usmp_requantize_s16_s32(
    const struct usmp_requantize_parameters *p, const usmp_i16 *input, usmp_i32 *output);

void usmp_requantize_s32_s16(
    const struct usmp_requantize_parameters *p, const usmp_i32 *input, usmp_i16 *output);

void usmp_requantize_s8_s32(
    const struct usmp_requantize_parameters *p, const int8_t *input, usmp_i32 *output);

void usmp_requantize_s32_s8(
    const struct usmp_requantize_parameters *p, const usmp_i32 *input, int8_t *output);

#endif
