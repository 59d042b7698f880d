#include "arithmetic.h"
#include "products.h"
#include "svdf.h"

/* The newest result of a filter first takes the place of its oldest one. */
void usmp_svdf_f32(
    const struct usmp_svdf_f32_parameters *p, const usmp_f32 *input, const float *features, const float *times,
    const float *bias, usmp_f32 *state, usmp_f32 *output)
{
    const int32_t all = p->units * p->rank;

    for (int32_t batch = 0; batch < p->batches; ++batch) {
        for (int32_t first = 0; first < all; first += 4) {
            const int32_t lanes = usmp_minimum(4, all - first);
            const float *filters[4];
            float newest[4] = {0.0f, 0.0f, 0.0f, 0.0f};

            for (int32_t i = 0; i < 4; ++i) {
                filters[i] = features + (first + usmp_minimum(i, lanes - 1)) * p->inputs;
            }
            usmp_add_products_f32(input, filters, 0, p->inputs, newest);
            for (int32_t i = 0; i < lanes; ++i) {
                state[(first + i) * p->memory] = newest[i];
            }
        }
        for (int32_t unit = 0; unit < p->units; ++unit) {
            float total = 0.0f;

            for (int32_t filter = unit * p->rank; filter < (unit + 1) * p->rank; ++filter) {
                const float *const weights = times + filter * p->memory;
                const float newest = state[0];
                float sum = 0.0f;

                for (int32_t i = 0; i + 1 < p->memory; ++i) {
                    const float later = state[i + 1];
                    state[i] = later;
                    sum += later * weights[i];
                }
                state[p->memory - 1] = newest;
                total += sum + newest * weights[p->memory - 1];
                state += p->memory;
            }
            *output++ = usmp_clamp_f32(total + bias[unit], p->low, p->high);
        }
        input += p->inputs;
    }
}
