#include "arithmetic.h"
#include "exponent_sums.h"
#include "exponential.h"
#include "softmax.h"
#include "walk.h"

/* e^x of an input less its row's maximum, Q0.31. */
static inline int32_t usmp_softmax_exp(const struct usmp_softmax_s8_parameters *p, int32_t difference)
{
    return usmp_exp_of_difference(difference, p->multiplier, p->shift, p->reach);
}

/* What all inputs of a row have in common. */
struct usmp_softmax_row {
    int32_t maximum;
    int32_t factor; /* 1 / sum, Q0.31, but for a power of two */
    int32_t over;   /* that power's exponent */
};

static inline struct usmp_softmax_row usmp_softmax_look_at(
    const struct usmp_softmax_s8_parameters *p, const int8_t *input)
{
    struct usmp_softmax_row row = {usmp_maximum_of_row(input, p->size), 0, 12};
    uint32_t sum = usmp_sum_of_exps(input, p->size, row.maximum, p->multiplier, p->shift, p->reach);

    for (; sum < 1u << 31; sum *= 2) {
        --row.over;
    }
    row.factor = usmp_reciprocal((int32_t)(sum - (1u << 31)));
    return row;
}

/* The share of an input, with `bits` bits: 2^bits is all. */
static inline int32_t usmp_softmax_share(
    const struct usmp_softmax_s8_parameters *p, const struct usmp_softmax_row *row, int8_t input,
    int32_t bits)
{
    const int32_t share = usmp_multiply_high(row->factor, usmp_softmax_exp(p, input - row->maximum));
    const int32_t excess = row->over + 31 - bits;
    return excess > 31 ? 0 : usmp_shift_right(share, excess);
}

void usmp_softmax_s8(const struct usmp_softmax_s8_parameters *p, const int8_t *input, int8_t *output)
{
    const struct usmp_walk rows = usmp_walk_along(p->rows, 1, p->direction);
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t y = rows.first; y != rows.end; y += rows.step) {
        const int8_t *const from = input + y * p->size;
        int8_t *const to = output + y * p->size;
        const struct usmp_softmax_row row = usmp_softmax_look_at(p, from);

        for (int32_t i = walk.first; i != walk.end; i += walk.step) {
            to[i] = (int8_t)usmp_minimum(usmp_softmax_share(p, &row, from[i], 8) + INT8_MIN, INT8_MAX);
        }
    }
}

void usmp_softmax_s8_s16(const struct usmp_softmax_s8_parameters *p, const int8_t *input, usmp_i16 *output)
{
    const struct usmp_walk rows = usmp_walk_along(p->rows, 1, p->direction);
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t y = rows.first; y != rows.end; y += rows.step) {
        const int8_t *const from = input + y * p->size;
        usmp_i16 *const to = output + y * p->size;
        const struct usmp_softmax_row row = usmp_softmax_look_at(p, from);

        for (int32_t i = walk.first; i != walk.end; i += walk.step) {
            to[i] = (int16_t)usmp_minimum(usmp_softmax_share(p, &row, from[i], 16) + INT16_MIN, INT16_MAX);
        }
    }
}
