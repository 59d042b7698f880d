/* QUANTIZE from floats and DEQUANTIZE to floats. */
#ifndef USMP_QUANTIZE_H
#define USMP_QUANTIZE_H

#include "usmp.h"

struct usmp_quantize_parameters {
    int32_t size;
    float scale;
    int32_t zero_point;
    int32_t direction; /* 1 forward, -1 backward */
};

/* Rounds halves away from zero; what is out of range becomes the nearest value in range, and NaN the least one. */
void usmp_quantize_f32_s8(const struct usmp_quantize_parameters *p, const usmp_f32 *input, int8_t *output);

/* Rounds halves away from zero; what is out of range becomes the nearest value in range, and NaN the least one. */
void usmp_quantize_f32_s16(
    const struct usmp_quantize_parameters *p, const usmp_f32 *input, usmp_i16 *output);

void usmp_dequantize_s8_f32(
    const struct usmp_quantize_parameters *p, const int8_t *input, usmp_f32 *output);

void usmp_dequantize_u8_f32(
    const struct usmp_quantize_parameters *p, const uint8_t *input, usmp_f32 *output);

void usmp_dequantize_s16_f32(
    const struct usmp_quantize_parameters *p, const usmp_i16 *input, usmp_f32 *output);

#endif
