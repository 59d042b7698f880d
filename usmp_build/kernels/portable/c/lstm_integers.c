/* UNIDIRECTIONAL_SEQUENCE_LSTM of integers. */
#include <string.h>

#include "arithmetic.h"
#include "logistic_s16.h"
#include "lstm.h"
#include "products.h"
#include "scaling.h"

/* Moves a unit's cell state on by what its gates add up to, with 12 bits after the point; returns its output. */
static inline int32_t usmp_lstm_unit(
    const struct usmp_lstm_parameters *p, const uint16_t *logistic, const int32_t *gates, usmp_i16 *cell)
{
    const int32_t *const kept = p->cell_factors;
    const int32_t *const fresh = p->cell_factors + 2;
    const int32_t input = usmp_logistic_q15(logistic, 3 * gates[0]) * usmp_tanh_q15(logistic, 3 * gates[2]);
    const int32_t forget = usmp_logistic_q15(logistic, 3 * gates[1]) * *cell;
    const int32_t sum = usmp_saturated_s16(usmp_scaled_by_any(forget, kept[0], kept[1]))
                        + usmp_saturated_s16(usmp_scaled_by_any(input, fresh[0], fresh[1]));
    const int32_t state = usmp_clamp(usmp_saturated_s16(sum), -p->clip, p->clip);
    const int32_t scaled = (state * p->tanh[0] + ((1 << p->tanh[1]) >> 1)) >> p->tanh[1];
    const int32_t output = usmp_logistic_q15(logistic, 3 * gates[3]) * usmp_tanh_q15(logistic, scaled);
    const int32_t *const factor = p->output_factor;

    *cell = (int16_t)state;
    return usmp_clamp(
        usmp_add(usmp_scaled_by_any(output, factor[0], factor[1]), p->hidden_zero_point), p->low, p->high);
}

/* First come the weights of the inputs, then those of the hidden state.  Neither inputs nor hidden state of int16 have
 * a zero point.  `logistic` is the table of usmp_logistic_q15. */
void usmp_lstm_s8(
    const struct usmp_lstm_parameters *p, const int8_t *input, const usmp_weight *input_weights,
    const usmp_weight *forget_weights, const usmp_weight *cell_weights, const usmp_weight *output_weights,
    const usmp_weight *input_recurrent, const usmp_weight *forget_recurrent, const usmp_weight *cell_recurrent,
    const usmp_weight *output_recurrent, const usmp_sum *input_bias, const usmp_sum *forget_bias,
    const usmp_sum *cell_bias, const usmp_sum *output_bias, const uint16_t *logistic, int8_t *hidden,
    usmp_i16 *cell, int8_t *output)
{
    const usmp_weight *const weights[4] = {input_weights, forget_weights, cell_weights, output_weights};
    const usmp_weight *const recurrent[4] = {input_recurrent, forget_recurrent, cell_recurrent, output_recurrent};

    for (int32_t row = 0; row < p->rows; ++row) {
        const int32_t state = row / p->run % p->batches * p->units;

        for (int32_t unit = 0; unit < p->units; ++unit) {
#if USMP_S8
            const int32_t biases[4] = {input_bias[unit], forget_bias[unit], cell_bias[unit], output_bias[unit]};
            int32_t sums[4] = {0, 0, 0, 0};
#else
            int64_t sums[4] = {input_bias[unit], forget_bias[unit], cell_bias[unit], output_bias[unit]};
#endif
            usmp_sum remembered[4] = {0, 0, 0, 0};
            int32_t gates[4];

#if USMP_S8
            usmp_add_products_s8(input, p->input_zero_point, weights, unit * p->inputs, p->inputs, sums);
            usmp_add_products_s8(
                hidden + state, p->hidden_zero_point, recurrent, unit * p->units, p->units, remembered);
#else
            usmp_add_products_s8(input, weights, unit * p->inputs, p->inputs, sums);
            usmp_add_products_s8(hidden + state, recurrent, unit * p->units, p->units, remembered);
#endif
            for (int32_t i = 0; i < 4; ++i) {
                const int32_t *const scale = p->input_factors + 2 * i;
                const int32_t *const recurrent_scale = p->hidden_factors + 2 * i;
#if USMP_S8
                gates[i] = usmp_saturated_s16(
                    usmp_saturated_s16(usmp_scaled_by_any(usmp_add(sums[i], biases[i]), scale[0], scale[1]))
                    + usmp_saturated_s16(usmp_scaled_by_any(remembered[i], recurrent_scale[0], recurrent_scale[1])));
#else
                gates[i] = usmp_saturated_s16(
                    usmp_saturated_s16(usmp_scale_wide(sums[i], scale[0], scale[1]))
                    + usmp_saturated_s16(usmp_scale_wide(remembered[i], recurrent_scale[0], recurrent_scale[1])));
#endif
            }
            output[unit] = (int8_t)usmp_lstm_unit(p, logistic, gates, cell + state + unit);
        }
        memcpy(hidden + state, output, (size_t)p->units * sizeof *output);
        input += p->inputs;
        output += p->units;
    }
}
