#include "arithmetic.h"
#include "fully_connected.h"
#include "products.h"

void usmp_fully_connected_f32(
    const struct usmp_fully_connected_f32_parameters *p, const usmp_f32 *input, const float *weights,
    const float *bias, usmp_f32 *output)
{
    for (int32_t batch = 0; batch < p->batches; ++batch) {
        for (int32_t c = 0; c < p->outputs; c += 4) {
            const int32_t lanes = usmp_minimum(4, p->outputs - c);
            const float *filters[4];
            float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};

            for (int32_t i = 0; i < 4; ++i) {
                filters[i] = weights + (c + usmp_minimum(i, lanes - 1)) * p->inputs;
            }
            usmp_add_products_f32(input, filters, 0, p->inputs, sums);
            for (int32_t i = 0; i < lanes; ++i) {
                *output++ = usmp_clamp_f32(sums[i] + bias[c + i], p->low, p->high);
            }
        }
        input += p->inputs;
    }
}
