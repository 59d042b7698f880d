#include <string.h>

#include "arithmetic.h"
#include "svdf.h"

void usmp_svdf_f32(
    const struct usmp_svdf_f32_parameters *p, const usmp_f32 *input, const float *features, const float *times,
    const float *bias, usmp_f32 *state, usmp_f32 *output)
{
    for (int32_t batch = 0; batch < p->batches; ++batch) {
        for (int32_t unit = 0; unit < p->units; ++unit) {
            float total = 0.0f;

            for (int32_t filter = unit * p->rank; filter < (unit + 1) * p->rank; ++filter) {
                const float *const feature = features + filter * p->inputs;
                const float *const weights = times + filter * p->memory;
                float newest = 0.0f;
                float sum = 0.0f;

                for (int32_t i = 0; i < p->inputs; ++i) {
                    newest += input[i] * feature[i];
                }
                memmove(state, state + 1, (size_t)(p->memory - 1) * sizeof *state);
                state[p->memory - 1] = newest;
                for (int32_t i = 0; i < p->memory; ++i) {
                    sum += state[i] * weights[i];
                }
                total += sum;
                state += p->memory;
            }
            *output++ = usmp_clamp_f32(total + bias[unit], p->low, p->high);
        }
        input += p->inputs;
    }
}
