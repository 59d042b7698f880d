#include "arithmetic.h"
#include "exponent_sums.h"
#include "log_softmax.h"
#include "logarithm.h"
#include "walk.h"

/* The output's scale is 1/16, its zero point 127. */
void usmp_log_softmax_s8(
    const struct usmp_log_softmax_s8_parameters *p, const int8_t *input, int8_t *output)
{
    const struct usmp_walk rows = usmp_walk_along(p->rows, 1, p->direction);
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t y = rows.first; y != rows.end; y += rows.step) {
        const int8_t *const from = input + y * p->size;
        int8_t *const to = output + y * p->size;
        const int32_t maximum = usmp_maximum_of_row(from, p->size);
        const int32_t log_of_sum = usmp_logarithm(
            (int32_t)usmp_sum_of_exps(from, p->size, maximum, p->multiplier, p->shift, p->reach));
        const int32_t farthest = usmp_scale(log_of_sum + INT32_MIN, p->back_multiplier, p->back_shift);
        const int32_t below = usmp_maximum(-p->reach - 1, farthest);

        for (int32_t i = walk.first; i != walk.end; i += walk.step) {
            const int32_t difference = from[i] - maximum;
            const int32_t log = usmp_add(usmp_exponent(difference, p->multiplier, p->shift), -log_of_sum);
            const int32_t steps = usmp_shift_right(log, 22) + INT8_MAX;
            to[i] = (int8_t)(difference > below ? usmp_clamp(steps, INT8_MIN, INT8_MAX) : INT8_MIN);
        }
    }
}
