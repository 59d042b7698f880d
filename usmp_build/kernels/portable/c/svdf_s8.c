/* SVDF of int8, with a state of int16 or int8. */
#include "arithmetic.h"
#include "products.h"
#include "scaling.h"
#include "svdf.h"
#include "svdf_times.h"

struct usmp_svdf_factor {
    int32_t multiplier;
    int32_t shift;
};

/* What four filters in a row make of the inputs, on the scale of the state; those after `lanes` repeat the last one. */
static inline void usmp_svdf_newest(
    const struct usmp_svdf_s8_parameters *p, struct usmp_svdf_factor factor, const int8_t *input,
    const int8_t *features, int32_t lanes, int32_t *newest)
{
    const int8_t *filters[4];
    int32_t sums[4] = {0, 0, 0, 0};

    usmp_point_at_filters(features, p->inputs, lanes, filters);
    usmp_add_products_s8(input, p->input_zero_point, filters, 0, p->inputs, sums);
    for (int32_t i = 0; i < lanes; ++i) {
        newest[i] = usmp_scaled_by_any(sums[i], factor.multiplier, factor.shift);
    }
}

/* The low eight bits of a number between -256 and 255. */
static inline int8_t usmp_svdf_wrapped(int32_t number)
{
    return (int8_t)(number > INT8_MAX ? number - 256 : number < INT8_MIN ? number + 256 : number);
}

static inline int8_t usmp_svdf_unit(
    const struct usmp_svdf_s8_parameters *p, struct usmp_svdf_factor factor, int32_t sum)
{
    const int32_t scaled = usmp_scaled_by_any(sum, factor.multiplier, factor.shift);
    return (int8_t)(usmp_clamp(scaled, p->low, p->high) + p->output_zero_point);
}

/* Bias has one element for each unit; factors are two multipliers, each with its shift, as in usmp_scale: from sums of
 * inputs to the state, and from sums of the state to the output.  The newest result of a filter first takes the place
 * of its oldest one.  A state of int8 may have a zero point, which is added to a result that already fits an int8, and
 * may wrap: so TensorFlow Lite Micro does it. */
void usmp_svdf_s8_s16(
    const struct usmp_svdf_s8_parameters *p, const int8_t *input, const int8_t *features, const usmp_element *times,
    const int32_t *bias, const int32_t *factors, usmp_i16 *state, int8_t *output)
{
    const struct usmp_svdf_factor to_state = {factors[0], factors[1]};
    const struct usmp_svdf_factor to_output = {factors[2], factors[3]};
    const int32_t filters = p->units * p->rank;

    for (int32_t batch = 0; batch < p->batches; ++batch) {
        for (int32_t first = 0; first < filters; first += 4) {
            const int32_t lanes = usmp_minimum(4, filters - first);
            int32_t newest[4];

            usmp_svdf_newest(p, to_state, input, features + first * p->inputs, lanes, newest);
            for (int32_t i = 0; i < lanes; ++i) {
#if USMP_S16
                state[(first + i) * p->memory] = (int16_t)usmp_clamp(newest[i], INT16_MIN, INT16_MAX);
#else
                const int32_t result = usmp_clamp(newest[i], INT8_MIN, INT8_MAX);
                state[(first + i) * p->memory] = usmp_svdf_wrapped(result + p->state_zero_point);
#endif
            }
        }
        for (int32_t unit = 0; unit < p->units; ++unit) {
            int32_t sum = bias[unit];

            for (int32_t filter = unit * p->rank; filter < (unit + 1) * p->rank; ++filter) {
#if USMP_S16
                sum = usmp_svdf_times_s16(state, times + filter * p->memory, p->memory, sum);
#else
                sum = usmp_svdf_times_s8(state, times + filter * p->memory, p->memory, p->state_zero_point, sum);
#endif
                state += p->memory;
            }
            *output++ = usmp_svdf_unit(p, to_output, sum);
        }
        input += p->inputs;
    }
}
