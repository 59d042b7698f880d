/* FULLY_CONNECTED of int16 with weights of int8: for each output a filter of `inputs` weights, one after the other. */
#include "arithmetic.h"
#include "products.h"
#include "usmp.h"
#include "walk.h"

/* Zero points are 0; low and high are the limits of the output. */
struct usmp_fully_connected_s16_parameters {
    int32_t batches;
    int32_t inputs;
    int32_t outputs;
    int32_t low;
    int32_t high;
    int32_t direction; /* 1 forward, -1 backward */
};

/* Bias has one element for each output; factor is a multiplier and a shift, as in usmp_scale_wide. */
void usmp_fully_connected_s16(
    const struct usmp_fully_connected_s16_parameters *p, const usmp_i16 *input, const int8_t *weights,
    const int64_t *bias, const int32_t *factor, usmp_i16 *output)
{
    const int32_t multiplier = factor[0];
    const int32_t shift = factor[1];
    const struct usmp_walk batches = usmp_walk_along(p->batches, 1, p->direction);
    const struct usmp_walk blocks = usmp_walk_along(p->outputs, 4, p->direction);

    for (int32_t batch = batches.first; batch != batches.end; batch += batches.step) {
        const usmp_i16 *const values = input + batch * p->inputs;

        for (int32_t c = blocks.first; c != blocks.end; c += blocks.step) {
            usmp_i16 *const results = output + batch * p->outputs + c;
            const int32_t lanes = usmp_minimum(4, p->outputs - c);
            const int8_t *filters[4];
            int64_t sums[4] = {0, 0, 0, 0};

            for (int32_t i = 0; i < 4; ++i) {
                filters[i] = weights + (c + usmp_minimum(i, lanes - 1)) * p->inputs;
            }
            usmp_add_products_s16(values, filters, 0, p->inputs, sums);
            for (int32_t i = 0; i < lanes; ++i) {
                const int32_t scaled = usmp_scale_wide(sums[i] + bias[c + i], multiplier, shift);
                results[i] = (int16_t)usmp_clamp(scaled, p->low, p->high);
            }
        }
    }
}
