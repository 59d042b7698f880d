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

#endif
