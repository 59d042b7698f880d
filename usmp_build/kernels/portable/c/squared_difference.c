/* SQUARED_DIFFERENCE of quantized numbers. */
#include "arithmetic.h"
#include "pairs.h"
#include "usmp.h"
#include "walk.h"

/* Both operands, less their zero points, are multiplied by `unit` and brought to one scale.  Shifts of operands are to
 * the right, that of the output is to the left.  Low and high are the limits of the output less its zero point. */
struct usmp_squared_difference_parameters {
    int32_t size;
    int32_t axes[15];
    int32_t unit;
    int32_t first_zero_point;
    int32_t first_multiplier;
    int32_t first_shift;
    int32_t second_zero_point;
    int32_t second_multiplier;
    int32_t second_shift;
    int32_t output_multiplier;
    int32_t output_shift;
    int32_t output_zero_point;
    int32_t low;
    int32_t high;
    int32_t direction; /* 1 forward, -1 backward */
};

static inline int32_t usmp_squared_difference_one(
    const struct usmp_squared_difference_parameters *p, int32_t first, int32_t second)
{
    const int32_t a = usmp_scale_down((first - p->first_zero_point) * p->unit, p->first_multiplier, p->first_shift);
    const int32_t b = usmp_scale_down((second - p->second_zero_point) * p->unit, p->second_multiplier, p->second_shift);
    const int32_t scaled = usmp_scale((a - b) * (a - b), p->output_multiplier, p->output_shift);
    return usmp_clamp(scaled, p->low, p->high) + p->output_zero_point;
}

void usmp_squared_difference_s8(
    const struct usmp_squared_difference_parameters *p, const int8_t *first, const int8_t *second, int8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    struct usmp_pair at = usmp_pair_at(p->axes, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (int8_t)usmp_squared_difference_one(p, first[at.first], second[at.second]);
        usmp_next_pair(&at, p->axes, p->direction);
    }
}
