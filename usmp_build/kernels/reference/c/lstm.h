/* UNIDIRECTIONAL_SEQUENCE_LSTM.  A row is a step of a batch: its inputs and the hidden state of the batch go through
 * four gates into the cell state of the batch, and from there to a row of the output, which is the next hidden state.
 *
 * Gates, everywhere in this order: input, forget, cell, output.  Weights of a gate are those of its first unit, then
 * those of the second one, ... */
#ifndef USMP_LSTM_H
#define USMP_LSTM_H

#include "usmp.h"

/* A batch has `run` rows in turn, and then it is the turn of the next one.
 *
 * Factors are a multiplier and a shift each.  Those of inputs and of the hidden state bring the sums of each gate to 12
 * bits after the point; with an int16 as input as in usmp_scale_wide, all others as in usmp_scale.  Those of the cell
 * state are of what it keeps, then of what is new.  `clip` limits it, `tanh` brings it to the scale of usmp_tanh_q15: a
 * multiplier and a shift to the right.  Low and high are the limits of the output. */
struct usmp_lstm_parameters {
    int32_t rows;
    int32_t run;
    int32_t batches;
    int32_t inputs;
    int32_t units;
    int32_t input_zero_point;
    int32_t hidden_zero_point;
    int32_t input_factors[8];
    int32_t hidden_factors[8];
    int32_t cell_factors[4];
    int32_t output_factor[2];
    int32_t clip;
    int32_t tanh[2];
    int32_t low;
    int32_t high;
};

/* As usmp_lstm_parameters, with real numbers. */
struct usmp_lstm_f32_parameters {
    int32_t rows;
    int32_t run;
    int32_t batches;
    int32_t inputs;
    int32_t units;
    float clip;
};

/* First the weights of the inputs, then those of the hidden state; `logistic` is the table of usmp_logistic_q15. */
void usmp_lstm_s8(
    const struct usmp_lstm_parameters *p, const int8_t *input, const int8_t *input_weights,
    const int8_t *forget_weights, const int8_t *cell_weights, const int8_t *output_weights,
    const int8_t *input_recurrent, const int8_t *forget_recurrent, const int8_t *cell_recurrent,
    const int8_t *output_recurrent, const int32_t *input_bias, const int32_t *forget_bias,
    const int32_t *cell_bias, const int32_t *output_bias, const uint16_t *logistic, int8_t *hidden,
    usmp_i16 *cell, int8_t *output);

/* The same with activations of int16, whose zero points are 0. */
void usmp_lstm_s16(
    const struct usmp_lstm_parameters *p, const usmp_i16 *input, const int8_t *input_weights,
    const int8_t *forget_weights, const int8_t *cell_weights, const int8_t *output_weights,
    const int8_t *input_recurrent, const int8_t *forget_recurrent, const int8_t *cell_recurrent,
    const int8_t *output_recurrent, const int64_t *input_bias, const int64_t *forget_bias,
    const int64_t *cell_bias, const int64_t *output_bias, const uint16_t *logistic, usmp_i16 *hidden,
    usmp_i16 *cell, usmp_i16 *output);

void usmp_lstm_f32(
    const struct usmp_lstm_f32_parameters *p, const usmp_f32 *input, const float *input_weights,
    const float *forget_weights, const float *cell_weights, const float *output_weights,
    const float *input_recurrent, const float *forget_recurrent, const float *cell_recurrent,
    const float *output_recurrent, const float *input_bias, const float *forget_bias,
    const float *cell_bias, const float *output_bias, usmp_f32 *hidden, usmp_f32 *cell,
    usmp_f32 *output);

#endif
