/* The natural logarithm in fixed point, as TensorFlow Lite Micro defines it. */
#ifndef USMP_LOGARITHM_H
#define USMP_LOGARITHM_H

#include "arithmetic.h"
#include "exponential.h"

/* ln(x) for x >= 1 in Q12.19, as Q5.26: of x = 2^n * r, with r around sqrt(sqrt(1/2)), n times ln 2 and the rest by a
 * rational function.  There are two candidates for n, a half apart; each is a quarter off. */
static inline int32_t usmp_logarithm(int32_t x)
{
    const int32_t ln_2 = 1488522236;
    const int32_t center = 1805811301; /* sqrt(sqrt(1/2)) */
    const int32_t root_of_half = 1518500250;
    const int32_t quarter = 1 << 23; /* Q6.25, as `power` is */
    const int32_t above = usmp_leading_zeros((uint32_t)x);
    const int32_t above_less = usmp_leading_zeros((uint32_t)usmp_multiply_high(x, root_of_half)) - 1;
    const int32_t one = usmp_shift_left(usmp_multiply_high(x << (above - 1), root_of_half), 1);
    const int32_t other = usmp_shift_left(x, above_less);
    const int32_t power = usmp_maximum((12 - above) * (1 << 25) + quarter, (12 - above_less) * (1 << 25) - quarter);
    const int32_t r = usmp_minimum(one, other);
    const int32_t q = (r - center) * 2;
    const int32_t q2 = usmp_multiply_high(q, q);
    const int32_t half_sum = (int32_t)(((int64_t)r + center + 1) / 2);
    const int32_t numerator
        = usmp_multiply_high(q, r) + usmp_multiply_high(usmp_multiply_high(q, q2), 117049297);
    const int32_t inner = 1057819769 + q + usmp_multiply_high(127690142, q2);
    const int32_t denominator = usmp_multiply_high(half_sum, inner) + usmp_multiply_high(638450708, q);
    const int32_t rest = usmp_multiply_high(usmp_shift_right(numerator, 6), usmp_reciprocal(denominator));
    return usmp_shift_left(usmp_multiply_high(power, ln_2) + rest, 1);
}

#endif
