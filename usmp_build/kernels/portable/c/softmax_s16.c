#include "arithmetic.h"
#include "interpolated.h"
#include "softmax.h"
#include "walk.h"

/* Writes e^x of each input less the row's maximum, Q0.15; returns their sum. */
static inline uint32_t usmp_softmax_exponentials_s16(
    const struct usmp_softmax_s16_parameters *p, const usmp_i16 *input, const int16_t *exponentials,
    usmp_i16 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    int32_t maximum = INT16_MIN;
    uint32_t sum = 0;

    for (int32_t i = 0; i < p->size; ++i) {
        maximum = usmp_maximum(maximum, input[i]);
    }
    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        const int32_t scaled = usmp_add(usmp_scale(input[i] - maximum, p->multiplier, p->shift), INT16_MAX);
        const int32_t e = usmp_interpolated(exponentials, usmp_clamp(scaled, INT16_MIN, INT16_MAX));
        output[i] = (int16_t)e;
        sum += (uint32_t)e;
    }
    return sum;
}

/* The output's scale is 1/32768, its zero point 0.  Tables, as in usmp_interpolated: e^x from -10 to 0, and 1 / (1 + x)
 * from 0 to 1. */
void usmp_softmax_s16(
    const struct usmp_softmax_s16_parameters *p, const usmp_i16 *input, const int16_t *exponentials,
    const int16_t *reciprocals, usmp_i16 *output)
{
    const struct usmp_walk rows = usmp_walk_along(p->rows, 1, p->direction);

    for (int32_t y = rows.first; y != rows.end; y += rows.step) {
        usmp_i16 *const to = output + y * p->size;
        uint32_t sum = usmp_softmax_exponentials_s16(p, input + y * p->size, exponentials, to);
        int32_t shift = 30;
        int32_t x, factor;

        for (; sum < 1u << 30; sum *= 2) {
            --shift;
        }
        x = (int32_t)((sum + (1u << 13)) >> 14) - (1 << 16); /* of the sum 1 + x, with 16 bits after the point */
        factor = usmp_interpolated(reciprocals, usmp_minimum(x + INT16_MIN, INT16_MAX));
        for (int32_t i = 0; i < p->size; ++i) {
            to[i] = (int16_t)usmp_clamp((to[i] * factor + (1 << (shift - 1))) >> shift, 0, INT16_MAX);
        }
    }
}
