/* Functions of single floats, as their names in <math.h> say. */
#ifndef USMP_FUNCTIONS_H
#define USMP_FUNCTIONS_H

#include "unary.h"

/* |x|. */
void usmp_abs_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output);

void usmp_ceil_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output);

void usmp_cos_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output);

/* x, but e^x - 1 below 0. */
void usmp_elu_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output);

void usmp_exp_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output);

void usmp_floor_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output);

/* x * (1 + erf(x / sqrt(2))) / 2. */
void usmp_gelu_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output);

/* x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2. */
void usmp_gelu_tanh_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output);

/* x * relu6(x + 3) / 6. */
void usmp_hard_swish_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output);

void usmp_log_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output);

/* -x. */
void usmp_neg_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output);

/* The nearest integer; halves become even. */
void usmp_round_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output);

/* 1 / sqrt(x). */
void usmp_rsqrt_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output);

void usmp_sin_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output);

void usmp_sqrt_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output);

/* x^2. */
void usmp_square_f32(const struct usmp_elements *p, const usmp_f32 *input, usmp_f32 *output);

#endif
