#include <float.h>
#include <math.h>

#include "log_softmax.h"
#include "walk.h"

void usmp_log_softmax_f32(
    const struct usmp_log_softmax_f32_parameters *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk rows = usmp_walk_along(p->rows, 1, p->direction);
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t y = rows.first; y != rows.end; y += rows.step) {
        const usmp_f32 *const from = input + y * p->size;
        usmp_f32 *const to = output + y * p->size;
        float maximum = -FLT_MAX;
        float sum = 0.0f;
        float log_of_sum;

        for (int32_t i = 0; i < p->size; ++i) {
            maximum = from[i] > maximum ? from[i] : maximum;
        }
        for (int32_t i = 0; i < p->size; ++i) {
            sum += expf(from[i] - maximum);
        }
        log_of_sum = logf(sum);
        for (int32_t i = walk.first; i != walk.end; i += walk.step) {
            to[i] = from[i] - maximum - log_of_sum;
        }
    }
}
