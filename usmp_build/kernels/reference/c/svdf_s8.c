#include <string.h>

#include "arithmetic.h"
#include "svdf.h"

struct usmp_svdf_factor {
    int32_t multiplier;
    int32_t shift;
};

/* What a filter makes of the inputs, on the scale of the state. */
static inline int32_t usmp_svdf_feature(
    const struct usmp_svdf_s8_parameters *p, struct usmp_svdf_factor factor, const int8_t *input,
    const int8_t *weights)
{
    int32_t sum = 0;

    for (int32_t i = 0; i < p->inputs; ++i) {
        sum += (input[i] - p->input_zero_point) * weights[i];
    }
    return usmp_scale(sum, factor.multiplier, factor.shift);
}

/* The low eight bits of a number between -256 and 255. */
static inline int8_t usmp_svdf_wrapped(int32_t number)
{
    return (int8_t)(number > INT8_MAX ? number - 256 : number < INT8_MIN ? number + 256 : number);
}

static inline int8_t usmp_svdf_unit(
    const struct usmp_svdf_s8_parameters *p, struct usmp_svdf_factor factor, int32_t sum)
{
    const int32_t scaled = usmp_scale(sum, factor.multiplier, factor.shift);
    return (int8_t)(usmp_clamp(scaled, p->low, p->high) + p->output_zero_point);
}

/* Once for each type of the state: as a macro, no debugger could step through these loops. */
void usmp_svdf_s8_s16(
    const struct usmp_svdf_s8_parameters *p, const int8_t *input, const int8_t *features, const int16_t *times,
    const int32_t *bias, const int32_t *factors, usmp_i16 *state, int8_t *output)
{
    const struct usmp_svdf_factor to_state = {factors[0], factors[1]};
    const struct usmp_svdf_factor to_output = {factors[2], factors[3]};

    for (int32_t batch = 0; batch < p->batches; ++batch) {
        for (int32_t unit = 0; unit < p->units; ++unit) {
            int32_t sum = bias[unit];

            for (int32_t filter = unit * p->rank; filter < (unit + 1) * p->rank; ++filter) {
                const int32_t newest = usmp_svdf_feature(p, to_state, input, features + filter * p->inputs);
                const int16_t *const weights = times + filter * p->memory;

                memmove(state, state + 1, (size_t)(p->memory - 1) * sizeof *state);
                state[p->memory - 1] = (int16_t)usmp_clamp(newest, INT16_MIN, INT16_MAX);
                for (int32_t i = 0; i < p->memory; ++i) {
                    sum = usmp_add(sum, state[i] * weights[i]);
                }
                state += p->memory;
            }
            *output++ = usmp_svdf_unit(p, to_output, sum);
        }
        input += p->inputs;
    }
}

void usmp_svdf_s8_s8(
    const struct usmp_svdf_s8_parameters *p, const int8_t *input, const int8_t *features, const int8_t *times,
    const int32_t *bias, const int32_t *factors, int8_t *state, int8_t *output)
{
    const struct usmp_svdf_factor to_state = {factors[0], factors[1]};
    const struct usmp_svdf_factor to_output = {factors[2], factors[3]};

    for (int32_t batch = 0; batch < p->batches; ++batch) {
        for (int32_t unit = 0; unit < p->units; ++unit) {
            int32_t sum = bias[unit];

            for (int32_t filter = unit * p->rank; filter < (unit + 1) * p->rank; ++filter) {
                const int32_t newest = usmp_svdf_feature(p, to_state, input, features + filter * p->inputs);
                const int8_t *const weights = times + filter * p->memory;

                memmove(state, state + 1, (size_t)(p->memory - 1) * sizeof *state);
                state[p->memory - 1] = usmp_svdf_wrapped(usmp_clamp(newest, INT8_MIN, INT8_MAX) + p->state_zero_point);
                for (int32_t i = 0; i < p->memory; ++i) {
                    sum = usmp_add(sum, (state[i] - p->state_zero_point) * weights[i]);
                }
                state += p->memory;
            }
            *output++ = usmp_svdf_unit(p, to_output, sum);
        }
        input += p->inputs;
    }
}
