#include "arithmetic.h"
#include "inverse_root.h"
#include "l2_normalization.h"
#include "walk.h"

/* The output's scale is 1/128, its zero point 0. */
void usmp_l2_normalization_s8(
    const struct usmp_l2_normalization_parameters *p, const int8_t *input, int8_t *output)
{
    const struct usmp_walk rows = usmp_walk_along(p->rows, 1, p->direction);
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t y = rows.first; y != rows.end; y += rows.step) {
        const int8_t *const from = input + y * p->size;
        int8_t *const to = output + y * p->size;
        struct usmp_factor factor;
        int32_t sum = 0;

        for (int32_t i = 0; i < p->size; ++i) {
            const int32_t value = from[i] - p->zero_point;
            sum += value * value;
        }
        factor = usmp_inverse_root(sum);
        for (int32_t i = walk.first; i != walk.end; i += walk.step) {
            const int32_t scaled = usmp_scale(from[i] - p->zero_point, factor.multiplier, factor.shift + 7);
            to[i] = (int8_t)usmp_clamp(scaled, INT8_MIN, INT8_MAX);
        }
    }
}
