#include <string.h>

#include "lstm.h"
#include "lstm_unit_f32.h"
#include "products.h"

void usmp_lstm_f32(
    const struct usmp_lstm_f32_parameters *p, const usmp_f32 *input, const float *input_weights,
    const float *forget_weights, const float *cell_weights, const float *output_weights,
    const float *input_recurrent, const float *forget_recurrent, const float *cell_recurrent,
    const float *output_recurrent, const float *input_bias, const float *forget_bias,
    const float *cell_bias, const float *output_bias, usmp_f32 *hidden, usmp_f32 *cell,
    usmp_f32 *output)
{
    const float *const weights[4] = {input_weights, forget_weights, cell_weights, output_weights};
    const float *const recurrent[4] = {input_recurrent, forget_recurrent, cell_recurrent, output_recurrent};

    for (int32_t row = 0; row < p->rows; ++row) {
        const int32_t state = row / p->run % p->batches * p->units;

        for (int32_t unit = 0; unit < p->units; ++unit) {
            const float biases[4] = {input_bias[unit], forget_bias[unit], cell_bias[unit], output_bias[unit]};
            float gates[4] = {0.0f, 0.0f, 0.0f, 0.0f};
            float remembered[4] = {0.0f, 0.0f, 0.0f, 0.0f};

            usmp_add_products_f32(input, weights, unit * p->inputs, p->inputs, gates);
            usmp_add_products_f32(hidden + state, recurrent, unit * p->units, p->units, remembered);
            for (int32_t i = 0; i < 4; ++i) {
                gates[i] += biases[i];
                gates[i] += remembered[i];
            }
            output[unit] = usmp_lstm_unit_f32(p->clip, gates, cell + state + unit);
        }
        memcpy(hidden + state, output, (size_t)p->units * sizeof *output);
        input += p->inputs;
        output += p->units;
    }
}
