#include <math.h>

#include "softmax.h"
#include "walk.h"

void usmp_softmax_f32(const struct usmp_softmax_f32_parameters *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk rows = usmp_walk_along(p->rows, 1, p->direction);
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t y = rows.first; y != rows.end; y += rows.step) {
        const usmp_f32 *const from = input + y * p->size;
        usmp_f32 *const to = output + y * p->size;
        float maximum = -INFINITY;
        float sum = 0.0f;

        for (int32_t i = 0; i < p->size; ++i) {
            maximum = from[i] > maximum ? from[i] : maximum;
        }
        for (int32_t i = walk.first; i != walk.end; i += walk.step) {
            to[i] = expf((from[i] - maximum) * p->beta);
        }
        for (int32_t i = 0; i < p->size; ++i) {
            sum += to[i]; /* in one order in both directions, for it rounds */
        }
        for (int32_t i = 0; i < p->size; ++i) {
            to[i] /= sum;
        }
    }
}
