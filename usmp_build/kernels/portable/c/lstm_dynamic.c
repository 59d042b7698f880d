/* UNIDIRECTIONAL_SEQUENCE_LSTM of float32 with weights of int8: for each step of a batch its inputs and its hidden state
 * are quantized, then integers are added up.  Gates and weights are in the order of lstm.h. */
#include <string.h>

#include "dynamic_range.h"
#include "lstm_unit_f32.h"
#include "products.h"
#include "usmp.h"

/* A batch has `run` rows in turn, and then it is the turn of the next one.  Scales are those of the weights of each
 * gate; `clip` limits the cell state. */
struct usmp_lstm_dynamic_parameters {
    int32_t rows;
    int32_t run;
    int32_t batches;
    int32_t inputs;
    int32_t units;
    int32_t symmetric;
    float input_scales[4];
    float hidden_scales[4];
    float clip;
};

/* `quantized` holds the inputs and the hidden state of a step. */
void usmp_lstm_dynamic(
    const struct usmp_lstm_dynamic_parameters *p, const usmp_f32 *input, const int8_t *input_weights,
    const int8_t *forget_weights, const int8_t *cell_weights, const int8_t *output_weights,
    const int8_t *input_recurrent, const int8_t *forget_recurrent, const int8_t *cell_recurrent,
    const int8_t *output_recurrent, const float *input_bias, const float *forget_bias,
    const float *cell_bias, const float *output_bias, int8_t *quantized, usmp_f32 *hidden, usmp_f32 *cell,
    usmp_f32 *output)
{
    const int8_t *const weights[4] = {input_weights, forget_weights, cell_weights, output_weights};
    const int8_t *const recurrent[4] = {input_recurrent, forget_recurrent, cell_recurrent, output_recurrent};
    int8_t *const state = quantized + p->inputs;

    for (int32_t row = 0; row < p->rows; ++row) {
        const int32_t first = row / p->run % p->batches * p->units;
        const struct usmp_dynamic_range given =
            usmp_quantize_dynamically(input, p->inputs, p->symmetric, quantized);
        const struct usmp_dynamic_range kept =
            usmp_quantize_dynamically(hidden + first, p->units, p->symmetric, state);

        for (int32_t unit = 0; unit < p->units; ++unit) {
            float gates[4] = {input_bias[unit], forget_bias[unit], cell_bias[unit], output_bias[unit]};
            int32_t sums[4] = {0, 0, 0, 0};
            int32_t remembered[4] = {0, 0, 0, 0};

            usmp_add_products_s8(quantized, given.zero_point, weights, unit * p->inputs, p->inputs, sums);
            usmp_add_products_s8(state, kept.zero_point, recurrent, unit * p->units, p->units, remembered);
            for (int32_t i = 0; i < 4; ++i) {
                gates[i] += (float)sums[i] * (given.scale * p->input_scales[i]);
                gates[i] += (float)remembered[i] * (kept.scale * p->hidden_scales[i]);
            }
            output[unit] = usmp_lstm_unit_f32(p->clip, gates, cell + first + unit);
        }
        memcpy(hidden + first, output, (size_t)p->units * sizeof *output);
        input += p->inputs;
        output += p->units;
    }
}
