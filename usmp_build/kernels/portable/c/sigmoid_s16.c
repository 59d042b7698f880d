/* LOGISTIC and TANH of int16_t, whose outputs have 15 bits after the point. */
#include "logistic_s16.h"
#include "usmp.h"
#include "walk.h"

/* Input times `multiplier`, shifted right by `shift` and rounded, is a multiple of 1/12288. */
struct usmp_sigmoid_s16_parameters {
    int32_t size;
    int32_t multiplier;
    int32_t shift;
    int32_t direction; /* 1 forward, -1 backward */
};

static inline int32_t usmp_sigmoid_argument(const struct usmp_sigmoid_s16_parameters *p, int32_t value)
{
    const int32_t half = p->shift > 0 ? 1 << (p->shift - 1) : 0;
    return (value * p->multiplier + half) >> p->shift;
}

void usmp_logistic_s16(
    const struct usmp_sigmoid_s16_parameters *p, const usmp_i16 *input, const uint16_t *table, usmp_i16 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (int16_t)usmp_logistic_q15(table, usmp_sigmoid_argument(p, input[i]));
    }
}

void usmp_tanh_s16(
    const struct usmp_sigmoid_s16_parameters *p, const usmp_i16 *input, const uint16_t *table, usmp_i16 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (int16_t)usmp_tanh_q15(table, usmp_sigmoid_argument(p, input[i]));
    }
}
