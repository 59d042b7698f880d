/* Exponentials of a row of int8, relative to its largest element. */
#ifndef USMP_EXPONENT_SUMS_H
#define USMP_EXPONENT_SUMS_H

#include "arithmetic.h"
#include "exponential.h"

/* A difference of two inputs, Q5.26: the factor is as in usmp_scale, with a shift to the left. */
static inline int32_t usmp_exponent(int32_t difference, int32_t multiplier, int32_t shift)
{
    return usmp_multiply_high((int32_t)((uint32_t)difference << shift), multiplier);
}

/* e^x of a difference that is not above 0, Q0.31; 0 below -reach. */
static inline int32_t usmp_exp_of_difference(
    int32_t difference, int32_t multiplier, int32_t shift, int32_t reach)
{
    return difference < -reach ? 0 : usmp_exp_of_negative(usmp_exponent(difference, multiplier, shift));
}

static inline int32_t usmp_maximum_of_row(const int8_t *input, int32_t size)
{
    int32_t maximum = INT8_MIN;

    for (int32_t i = 0; i < size; ++i) {
        maximum = usmp_maximum(maximum, input[i]);
    }
    return maximum;
}

/* Q12.19 */
static inline uint32_t usmp_sum_of_exps(
    const int8_t *input, int32_t size, int32_t maximum, int32_t multiplier, int32_t shift, int32_t reach)
{
    uint32_t sum = 0;

    for (int32_t i = 0; i < size; ++i) {
        sum += (uint32_t)usmp_shift_right(usmp_exp_of_difference(input[i] - maximum, multiplier, shift, reach), 12);
    }
    return sum;
}

#endif
