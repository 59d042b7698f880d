#include "arithmetic.h"
#include "fully_connected.h"
#include "products.h"
#include "walk.h"

/* Bias has one element for each output. */
void usmp_fully_connected_f32(
    const struct usmp_fully_connected_f32_parameters *p, const usmp_f32 *input, const float *weights,
    const float *bias, usmp_f32 *output)
{
    const struct usmp_walk batches = usmp_walk_along(p->batches, 1, p->direction);
    const struct usmp_walk blocks = usmp_walk_along(p->outputs, 4, p->direction);

    for (int32_t batch = batches.first; batch != batches.end; batch += batches.step) {
        const usmp_f32 *const values = input + batch * p->inputs;

        for (int32_t c = blocks.first; c != blocks.end; c += blocks.step) {
            usmp_f32 *const results = output + batch * p->outputs + c;
            const int32_t lanes = usmp_minimum(4, p->outputs - c);
            const float *filters[4];
            float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};

            for (int32_t i = 0; i < 4; ++i) {
                filters[i] = weights + (c + usmp_minimum(i, lanes - 1)) * p->inputs;
            }
            usmp_add_products_f32(values, filters, 0, p->inputs, sums);
            for (int32_t i = 0; i < lanes; ++i) {
                results[i] = usmp_clamp_f32(sums[i] + bias[c + i], p->low, p->high);
            }
        }
    }
}
