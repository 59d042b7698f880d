#include <math.h>

#include "l2_normalization.h"
#include "walk.h"

/* A norm below 1e-6 counts as 1e-6. */
void usmp_l2_normalization_f32(
    const struct usmp_l2_normalization_parameters *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk rows = usmp_walk_along(p->rows, 1, p->direction);
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t y = rows.first; y != rows.end; y += rows.step) {
        const usmp_f32 *const from = input + y * p->size;
        usmp_f32 *const to = output + y * p->size;
        float sum = 0.0f;
        float norm;

        for (int32_t i = 0; i < p->size; ++i) {
            sum += from[i] * from[i];
        }
        norm = sqrtf(sum);
        norm = norm < 1e-6f ? 1e-6f : norm;
        for (int32_t i = walk.first; i != walk.end; i += walk.step) {
            to[i] = from[i] / norm;
        }
    }
}
