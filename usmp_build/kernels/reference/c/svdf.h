/* SVDF: filters over inputs, then over the last `memory` results of each, which are the state.  The results of `rank`
 * filters in a row add up to a unit.
 *
 * The state has, for each batch, the results of each filter, oldest first. */
#ifndef USMP_SVDF_H
#define USMP_SVDF_H

#include "usmp.h"

/* Low and high are the limits of the output less its zero point. */
struct usmp_svdf_s8_parameters {
    int32_t batches;
    int32_t inputs;
    int32_t units;
    int32_t rank;
    int32_t memory;
    int32_t input_zero_point;
    int32_t state_zero_point; /* 0 with a state of int16 */
    int32_t output_zero_point;
    int32_t low;
    int32_t high;
};

struct usmp_svdf_f32_parameters {
    int32_t batches;
    int32_t inputs;
    int32_t units;
    int32_t rank;
    int32_t memory;
    float low;
    float high;
};

/* With a state of int16.  Bias has one element for each unit; factors are two multipliers, each with its shift, as
 * in usmp_scale: from sums of inputs to the state, and from sums of the state to the output. */
void usmp_svdf_s8_s16(
    const struct usmp_svdf_s8_parameters *p, const int8_t *input, const int8_t *features, const int16_t *times,
    const int32_t *bias, const int32_t *factors, usmp_i16 *state, int8_t *output);

/* With a state of int8, which may have a zero point.  It is added to a result that already fits an int8, and may wrap:
 * so TensorFlow Lite Micro does it. */
void usmp_svdf_s8_s8(
    const struct usmp_svdf_s8_parameters *p, const int8_t *input, const int8_t *features, const int8_t *times,
    const int32_t *bias, const int32_t *factors, int8_t *state, int8_t *output);

void usmp_svdf_f32(
    const struct usmp_svdf_f32_parameters *p, const usmp_f32 *input, const float *features, const float *times,
    const float *bias, usmp_f32 *state, usmp_f32 *output);

#endif
