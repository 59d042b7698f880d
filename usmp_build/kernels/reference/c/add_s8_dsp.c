#include "add_dsp.h"
#include "arithmetic.h"
#include "dsp.h"
#include "walk.h"

/* What an element is multiplied by before it is shifted right by `less` + 1 bits, less 2^32. */
struct usmp_factor_dsp {
    int32_t excess;
    int32_t less;
};

/* With a shift of 0, a multiplier of 2^30 leaves the shift by one bit alone. */
static inline struct usmp_factor_dsp usmp_factor_of_dsp(int32_t multiplier, int32_t shift)
{
    struct usmp_factor_dsp factor = {(int32_t)((uint32_t)multiplier * 2), shift - 1};

    if (multiplier == 0) {
        factor.excess = INT32_MIN;
        factor.less = 31;
    } else if (shift == 0) {
        factor.excess = 0;
        factor.less = 0;
    }
    return factor;
}

/* value * multiplier / 2^31, rounded, shifted right with halves away from zero. */
static inline int32_t usmp_scaled_element_dsp(int32_t value, struct usmp_factor_dsp factor)
{
    const int32_t high = usmp_multiply_high_dsp(value, factor.excess);
    return (((high + (high >> 31)) >> factor.less) + 1) >> 1;
}

void usmp_add_s8_dsp(
    const struct usmp_add_s8_parameters *p, const int8_t *first, const int8_t *second, int8_t *output)
{
    const int32_t one = 1 << usmp_fraction_bits_s8();
    const int32_t first_offset = p->first_zero_point * one;
    const int32_t second_offset = p->second_zero_point * one;
    const struct usmp_factor_dsp first_factor = usmp_factor_of_dsp(p->first_multiplier, p->first_shift);
    const struct usmp_factor_dsp second_factor = usmp_factor_of_dsp(p->second_multiplier, p->second_shift);
    const struct usmp_factor_dsp factor = usmp_factor_of_dsp(p->output_multiplier, p->output_shift);
    const int32_t sign = p->sign;
    const int32_t rounding = 1 + 2 * p->output_zero_point;
    const int32_t low = p->low + p->output_zero_point;
    const int32_t high = p->high + p->output_zero_point;
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        const int32_t a = usmp_scaled_element_dsp(first[i] * one - first_offset, first_factor);
        const int32_t b = usmp_scaled_element_dsp(second[i] * one - second_offset, second_factor);
        const int32_t sum = usmp_scaled_s8_dsp(a + sign * b, factor.excess, factor.less, rounding);
        output[i] = (int8_t)usmp_clamp(sum, low, high);
    }
}
