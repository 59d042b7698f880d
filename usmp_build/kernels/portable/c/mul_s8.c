/* MUL of quantized numbers. */
#include "arithmetic.h"
#include "mul.h"
#include "pairs.h"
#include "scaling.h"

/* Products of `count` pairs. */
static inline void usmp_mul_any_s8(
    const struct usmp_mul_s8_parameters *p, struct usmp_pair_steps steps, int32_t count, const int8_t *first,
    const int8_t *second, int8_t *output)
{
    for (; count > 0; --count, first += steps.first, second += steps.second, output += steps.output) {
        const int32_t product = (*first - p->first_zero_point) * (*second - p->second_zero_point);
        const int32_t scaled = usmp_scale(product, p->multiplier, p->shift);
        *output = (int8_t)(usmp_clamp(scaled, p->low, p->high) + p->output_zero_point);
    }
}

/* The same for a factor below 1/2: the numbers of the loop are in locals.  Limits of the type itself need no
 * registers. */
static inline void usmp_mul_scaled_s8(
    const struct usmp_mul_s8_parameters *p, struct usmp_pair_steps steps, int32_t count, const int8_t *first,
    const int8_t *second, int8_t *output, int32_t is_clamped)
{
    const struct usmp_scaling scaling = usmp_scaling_by(p->multiplier, -p->shift);
    const int32_t first_zero_point = p->first_zero_point;
    const int32_t second_zero_point = p->second_zero_point;
    const int32_t more = 1 + 2 * p->output_zero_point;
    const int32_t low = p->low + p->output_zero_point;
    const int32_t high = p->high + p->output_zero_point;

    for (; count > 0; --count, first += steps.first, second += steps.second, output += steps.output) {
        const int32_t product = (*first - first_zero_point) * (*second - second_zero_point);
        const int32_t scaled = usmp_scaled(product, scaling, more);
        *output = (int8_t)(is_clamped ? usmp_clamp(scaled, low, high) : usmp_saturated_s8(scaled));
    }
}

/* Products of `count` pairs, in the shortest loop that makes them. */
static void usmp_mul_run_s8(
    const struct usmp_mul_s8_parameters *p, struct usmp_pair_steps steps, int32_t count, const int8_t *first,
    const int8_t *second, int8_t *output)
{
    if (p->shift >= 0) {
        usmp_mul_any_s8(p, steps, count, first, second, output);
    } else if (usmp_is_range_s8(p->low + p->output_zero_point, p->high + p->output_zero_point)) {
        usmp_mul_scaled_s8(p, steps, count, first, second, output, 0);
    } else {
        usmp_mul_scaled_s8(p, steps, count, first, second, output, 1);
    }
}

/* Two tensors of one shape. */
void usmp_mul_s8(
    const struct usmp_mul_s8_parameters *p, const int8_t *first, const int8_t *second, int8_t *output)
{
    const int32_t start = p->direction < 0 ? p->size - 1 : 0;
    const struct usmp_pair_steps steps = {p->direction, p->direction, p->direction};

    usmp_mul_run_s8(p, steps, p->size, first + start, second + start, output + start);
}

/* Two tensors of which at least one is stretched.  `axes` has three numbers for each of five axes of the output, the
 * innermost last: its size, and how far one step along it moves in `first` and in `second`. */
void usmp_mul_s8_stretched(
    const struct usmp_mul_s8_parameters *p, const int8_t *first, const int8_t *second, const int32_t *axes,
    int8_t *output)
{
    struct usmp_pair at = usmp_pair_at(axes, p->direction);
    const struct usmp_pair_steps steps = {at.first_step, at.second_step, p->direction};

    output += p->direction < 0 ? p->size - 1 : 0;
    for (int32_t done = 0; done < p->size; done += at.left, output += p->direction * at.left) {
        usmp_mul_run_s8(p, steps, at.left, first + at.first, second + at.second, output);
        usmp_next_run(&at, axes, p->direction);
    }
}
