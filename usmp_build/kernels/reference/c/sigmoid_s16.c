/* LOGISTIC and TANH of int16_t: both interpolate in one table, which has 1 / (1 + e^-x) for x = 0, 1/24, ..., 255/24
 * as unsigned numbers with 16 bits after the point.  Outputs have 15 bits after the point. */
#include "usmp.h"
#include "walk.h"

/* Input times `multiplier`, shifted right by `shift` and rounded, is x in steps of 1/12288: 512 from one value of the
 * table to the next. */
struct usmp_sigmoid_s16_parameters {
    int32_t size;
    int32_t multiplier;
    int32_t shift;
    int32_t direction; /* 1 forward, -1 backward */
};

void usmp_logistic_s16(
    const struct usmp_sigmoid_s16_parameters *p, const usmp_i16 *input, const uint16_t *table, usmp_i16 *output);

void usmp_tanh_s16(
    const struct usmp_sigmoid_s16_parameters *p, const usmp_i16 *input, const uint16_t *table, usmp_i16 *output);

static inline int32_t usmp_sigmoid_argument(const struct usmp_sigmoid_s16_parameters *p, int32_t value)
{
    const int32_t half = p->shift > 0 ? 1 << (p->shift - 1) : 0;
    return (value * p->multiplier + half) >> p->shift;
}

/* 1 / (1 + e^-x), x = magnitude / 2^bits / 24, with 16 + bits bits after the point; `most` where the table ends. */
static inline int32_t usmp_sigmoid_between(const uint16_t *table, int32_t magnitude, int32_t bits, int32_t most)
{
    const int32_t index = magnitude >> bits;

    if (index >= 255) {
        return most;
    }
    const int32_t from = table[index];
    const int32_t fraction = magnitude & ((1 << bits) - 1);
    return from * (1 << bits) + fraction * (table[index + 1] - from);
}

void usmp_logistic_s16(
    const struct usmp_sigmoid_s16_parameters *p, const usmp_i16 *input, const uint16_t *table, usmp_i16 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        const int32_t x = usmp_sigmoid_argument(p, input[i]);
        const int32_t above = usmp_sigmoid_between(table, x < 0 ? -x : x, 9, 32767 << 10);
        output[i] = (int16_t)((x < 0 ? (1 << 25) - above + (1 << 9) - 1 : above + (1 << 9)) >> 10);
    }
}

/* tanh(x) = 2 / (1 + e^-2x) - 1. */
void usmp_tanh_s16(
    const struct usmp_sigmoid_s16_parameters *p, const usmp_i16 *input, const uint16_t *table, usmp_i16 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        const int32_t x = usmp_sigmoid_argument(p, input[i]);
        const int32_t above = usmp_sigmoid_between(table, x < 0 ? -x : x, 8, 65535 << 8) - (1 << 23);
        output[i] = (int16_t)((x < 0 ? (1 << 7) - 1 - above : (1 << 7) + above) >> 8);
    }
}
