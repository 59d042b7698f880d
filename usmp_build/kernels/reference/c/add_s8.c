/* ADD and SUB of quantized numbers.  Types: s8 int8_t, s16 usmp_i16. */
#include "add.h"
#include "arithmetic.h"
#include "pairs.h"
#include "walk.h"

static inline int8_t usmp_add_two_s8(const struct usmp_add_s8_parameters *p, int8_t first, int8_t second)
{
    const int32_t one = 1 << usmp_fraction_bits_s8();
    const int32_t a = usmp_scale_down((first - p->first_zero_point) * one, p->first_multiplier, p->first_shift);
    const int32_t b = usmp_scale_down((second - p->second_zero_point) * one, p->second_multiplier, p->second_shift);
    const int32_t sum = usmp_scale_down(a + p->sign * b, p->output_multiplier, p->output_shift);
    return (int8_t)(usmp_clamp(sum, p->low, p->high) + p->output_zero_point);
}

void usmp_add_s8(
    const struct usmp_add_s8_parameters *p, const int8_t *first, const int8_t *second, int8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = usmp_add_two_s8(p, first[i], second[i]);
    }
}

void usmp_add_s8_stretched(
    const struct usmp_add_s8_parameters *p, const int8_t *first, const int8_t *second, const int32_t *axes,
    int8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    struct usmp_pair at = usmp_pair_at(axes, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = usmp_add_two_s8(p, first[at.first], second[at.second]);
        usmp_next_pair(&at, axes, p->direction);
    }
}
