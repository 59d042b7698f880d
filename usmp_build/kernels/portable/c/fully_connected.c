#include "arithmetic.h"
#include "fully_connected.h"
#include "products.h"
#include "walk.h"

/* What a zero point of the weights takes from every sum of products. */
static inline int32_t usmp_weights_zero_point_share_s8(
    const struct usmp_fully_connected_s8_parameters *p, const int8_t *input)
{
    int32_t sum = 0;

    if (p->weights_zero_point == 0) {
        return 0;
    }
    for (int32_t i = 0; i < p->inputs; ++i) {
        sum += input[i] - p->input_zero_point;
    }
    return p->weights_zero_point * sum;
}

/* Bias has one element for each output; factor is a multiplier and a shift. */
void usmp_fully_connected_s8(
    const struct usmp_fully_connected_s8_parameters *p, const int8_t *input, const usmp_weight *weights,
    const usmp_sum *bias,
#if USMP_S8 || USMP_S16
    const int32_t *factor,
#endif
    int8_t *output)
{
#if USMP_S8 || USMP_S16
    const int32_t multiplier = factor[0];
    const int32_t shift = factor[1];
#endif
    const struct usmp_walk batches = usmp_walk_along(p->batches, 1, p->direction);
    const struct usmp_walk blocks = usmp_walk_along(p->outputs, 4, p->direction);

    for (int32_t batch = batches.first; batch != batches.end; batch += batches.step) {
        const int8_t *const values = input + batch * p->inputs;
#if USMP_S8
        const int32_t share = usmp_weights_zero_point_share_s8(p, values);
#endif

        for (int32_t c = blocks.first; c != blocks.end; c += blocks.step) {
            int8_t *const results = output + batch * p->outputs + c;
            const int32_t lanes = usmp_minimum(4, p->outputs - c);
            const usmp_weight *filters[4];
            usmp_sum sums[4] = {0, 0, 0, 0};

#if USMP_S8
            usmp_point_at_filters(weights + c * p->inputs, p->inputs, lanes, filters);
            usmp_add_products_s8(values, p->input_zero_point, filters, 0, p->inputs, sums);
#else
            for (int32_t i = 0; i < 4; ++i) {
                filters[i] = weights + (c + usmp_minimum(i, lanes - 1)) * p->inputs;
            }
            usmp_add_products_s8(values, filters, 0, p->inputs, sums);
#endif
            for (int32_t i = 0; i < lanes; ++i) {
#if USMP_S8
                const int32_t sum = usmp_add(sums[i] - share, bias[c + i]);
                const int32_t scaled = usmp_scale(sum, multiplier, shift);
                results[i] = (int8_t)(usmp_clamp(scaled, p->low, p->high) + p->output_zero_point);
#elif USMP_S16
                const int32_t scaled = usmp_scale_wide(sums[i] + bias[c + i], multiplier, shift);
                results[i] = (int8_t)usmp_clamp(scaled, p->low, p->high);
#else
                results[i] = usmp_clamp_f32(sums[i] + bias[c + i], p->low, p->high);
#endif
            }
        }
    }
}
