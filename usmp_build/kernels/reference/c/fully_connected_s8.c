#include "arithmetic.h"
#include "fully_connected.h"
#include "products.h"
#include "walk.h"

/* What a zero point of the weights takes from every sum of products. */
static inline int32_t usmp_weights_zero_point_share(
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

/* Bias has one element for each output; factor is a multiplier and a shift, as in usmp_scale. */
void usmp_fully_connected_s8(
    const struct usmp_fully_connected_s8_parameters *p, const int8_t *input, const int8_t *weights,
    const int32_t *bias, const int32_t *factor, int8_t *output)
{
    const int32_t multiplier = factor[0];
    const int32_t shift = factor[1];
    const struct usmp_walk batches = usmp_walk_along(p->batches, 1, p->direction);
    const struct usmp_walk blocks = usmp_walk_along(p->outputs, 4, p->direction);

    for (int32_t batch = batches.first; batch != batches.end; batch += batches.step) {
        const int8_t *const values = input + batch * p->inputs;
        const int32_t share = usmp_weights_zero_point_share(p, values);

        for (int32_t c = blocks.first; c != blocks.end; c += blocks.step) {
            int8_t *const results = output + batch * p->outputs + c;
            const int32_t lanes = usmp_minimum(4, p->outputs - c);
            const int8_t *filters[4];
            int32_t sums[4] = {0, 0, 0, 0};

            usmp_point_at_filters(weights + c * p->inputs, p->inputs, lanes, filters);
            usmp_add_products_s8(values, p->input_zero_point, filters, 0, p->inputs, sums);
            for (int32_t i = 0; i < lanes; ++i) {
                const int32_t sum = usmp_add(sums[i] - share, bias[c + i]);
                const int32_t scaled = usmp_scale(sum, multiplier, shift);
                results[i] = (int8_t)(usmp_clamp(scaled, p->low, p->high) + p->output_zero_point);
            }
        }
    }
}
