/* Functions of single elements. */
#ifndef USMP_UNARY_H
#define USMP_UNARY_H

#include "usmp.h"

struct usmp_elements {
    int32_t size;
    int32_t direction; /* 1 forward, -1 backward */
};

/* Any function of int8_t, by its 256 values from that of -128 on: LOGISTIC, TANH, HARD_SWISH, LOOKUP. */
void usmp_lookup_s8(
    const struct usmp_elements *p, const int8_t *input, const int8_t *table, int8_t *output);

/* Any function of int16_t, between 513 of its values from that of -32768 on. */
void usmp_lookup_s16(
    const struct usmp_elements *p, const usmp_i16 *input, const int16_t *table, usmp_i16 *output);

/* RELU. */
void usmp_relu_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output);

/* RELU6. */
void usmp_relu6_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output);

/* LOGISTIC. */
void usmp_logistic_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output);

/* TANH. */
void usmp_tanh_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output);

#endif
