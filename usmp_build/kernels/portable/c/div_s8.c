/* DIV of quantized numbers. */
#include "arithmetic.h"
#include "exponential.h"
#include "pairs.h"
#include "usmp.h"
#include "walk.h"

/* Low and high are the limits of the output less its zero point. */
struct usmp_div_s8_parameters {
    int32_t size;
    int32_t axes[15];
    int32_t first_zero_point;
    int32_t second_zero_point;
    int32_t multiplier;
    int32_t shift;
    int32_t output_zero_point;
    int32_t low;
    int32_t high;
    int32_t direction; /* 1 forward, -1 backward */
};

/* a / b times multiplier * 2^(shift - 31): the reciprocal of b = (1 + x) * 2^(31 - zeros), as Q0.31, times a, which is
 * moved up as far as it goes.  Of a b of 0 it makes what TensorFlow Lite Micro makes of it: x is -1. */
static inline int32_t usmp_scaled_quotient(const struct usmp_div_s8_parameters *p, int32_t a, int32_t b)
{
    const int32_t divisor = b < 0 ? -b : b;
    const int32_t zeros = b == 0 ? 32 : usmp_leading_zeros((uint32_t)divisor);
    const int32_t x = b == 0 ? INT32_MIN : (int32_t)(((uint32_t)divisor << zeros) - (1u << 31));
    const int32_t reciprocal = usmp_reciprocal(x);
    const int32_t dividend = b < 0 ? -a : a;
    const int32_t magnitude = dividend < 0 ? -dividend : dividend;
    const int32_t room = magnitude == 0 ? 0 : usmp_leading_zeros((uint32_t)(2 * magnitude - (dividend < 0)));
    const int32_t high = usmp_multiply_high((int32_t)((uint32_t)dividend << room), reciprocal);
    const int32_t scaled = usmp_multiply_high(high, p->multiplier);
    const int32_t shift = p->shift - (31 - zeros) - room;

    if (shift > 0) {
        return scaled == 0 ? 0 : scaled < 0 ? p->low : p->high;
    }
    return shift < -31 ? 0 : usmp_shift_right(scaled, -shift);
}

void usmp_div_s8(
    const struct usmp_div_s8_parameters *p, const int8_t *first, const int8_t *second, int8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    struct usmp_pair at = usmp_pair_at(p->axes, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        const int32_t a = first[at.first] - p->first_zero_point;
        const int32_t b = second[at.second] - p->second_zero_point;
        const int32_t quotient = usmp_clamp(usmp_scaled_quotient(p, a, b), p->low, p->high);
        output[i] = (int8_t)(quotient + p->output_zero_point);
        usmp_next_pair(&at, p->axes, p->direction);
    }
}
