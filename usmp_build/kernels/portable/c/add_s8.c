/* ADD and SUB of quantized numbers. */
#include "add.h"
#include "arithmetic.h"
#include "pairs.h"
#include "scaling.h"

/* Sums of `count` pairs. */
static inline void usmp_add_any_s8(
    const struct usmp_add_s8_parameters *p, struct usmp_pair_steps steps, int32_t count, const int8_t *first,
    const int8_t *second, int8_t *output)
{
    const int32_t one = 1 << usmp_fraction_bits_s8();

    for (; count > 0; --count, first += steps.first, second += steps.second, output += steps.output) {
        const int32_t a = usmp_scale_down((*first - p->first_zero_point) * one, p->first_multiplier, p->first_shift);
        const int32_t b =
            usmp_scale_down((*second - p->second_zero_point) * one, p->second_multiplier, p->second_shift);
        const int32_t sum = usmp_scale_down(a + p->sign * b, p->output_multiplier, p->output_shift);
        *output = (int8_t)(usmp_clamp(sum, p->low, p->high) + p->output_zero_point);
    }
}

/* The same if factors are at most 1/2, and that of the output below it: the numbers of the loop are in locals.  Limits
 * of the type itself need no registers. */
static inline void usmp_add_scaled_s8(
    const struct usmp_add_s8_parameters *p, struct usmp_pair_steps steps, int32_t count, const int8_t *first,
    const int8_t *second, int8_t *output, int32_t is_clamped)
{
    const int32_t one = 1 << usmp_fraction_bits_s8();
    const int32_t first_offset = p->first_zero_point * one;
    const int32_t second_offset = p->second_zero_point * one;
    const struct usmp_scaling first_scaling = usmp_scaling_by(p->first_multiplier, p->first_shift);
    const struct usmp_scaling second_scaling = usmp_scaling_by(p->second_multiplier, p->second_shift);
    const struct usmp_scaling scaling = usmp_scaling_by(p->output_multiplier, p->output_shift);
    const int32_t sign = p->sign;
    const int32_t more = 1 + 2 * p->output_zero_point;
    const int32_t low = p->low + p->output_zero_point;
    const int32_t high = p->high + p->output_zero_point;

    for (; count > 0; --count, first += steps.first, second += steps.second, output += steps.output) {
        const int32_t a = usmp_scaled(*first * one - first_offset, first_scaling, 1);
        const int32_t b = usmp_scaled(*second * one - second_offset, second_scaling, 1);
        const int32_t sum = usmp_scaled(a + sign * b, scaling, more);
        *output = (int8_t)(is_clamped ? usmp_clamp(sum, low, high) : usmp_saturated_s8(sum));
    }
}

/* Sums of `count` pairs, in the shortest loop that makes them. */
static void usmp_add_run_s8(
    const struct usmp_add_s8_parameters *p, struct usmp_pair_steps steps, int32_t count, const int8_t *first,
    const int8_t *second, int8_t *output)
{
    if (p->output_shift == 0) {
        usmp_add_any_s8(p, steps, count, first, second, output);
    } else if (usmp_is_range_s8(p->low + p->output_zero_point, p->high + p->output_zero_point)) {
        usmp_add_scaled_s8(p, steps, count, first, second, output, 0);
    } else {
        usmp_add_scaled_s8(p, steps, count, first, second, output, 1);
    }
}

/* Two tensors of one shape. */
void usmp_add_s8(
    const struct usmp_add_s8_parameters *p, const int8_t *first, const int8_t *second, int8_t *output)
{
    const int32_t start = p->direction < 0 ? p->size - 1 : 0;
    const struct usmp_pair_steps steps = {p->direction, p->direction, p->direction};

    usmp_add_run_s8(p, steps, p->size, first + start, second + start, output + start);
}

/* Two tensors of which at least one is stretched.  `axes` has three numbers for each of five axes of the output, the
 * innermost last: its size, and how far one step along it moves in `first` and in `second`. */
void usmp_add_s8_stretched(
    const struct usmp_add_s8_parameters *p, const int8_t *first, const int8_t *second, const int32_t *axes,
    int8_t *output)
{
    struct usmp_pair at = usmp_pair_at(axes, p->direction);
    const struct usmp_pair_steps steps = {at.first_step, at.second_step, p->direction};

    output += p->direction < 0 ? p->size - 1 : 0;
    for (int32_t done = 0; done < p->size; done += at.left, output += p->direction * at.left) {
        usmp_add_run_s8(p, steps, at.left, first + at.first, second + at.second, output);
        usmp_next_run(&at, axes, p->direction);
    }
}
