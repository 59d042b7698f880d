#include <float.h>

#include "reduce.h"
#include "walk.h"

void usmp_reduce_max_f32(
    const struct usmp_reduce_max_parameters *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk outputs = usmp_walk_along(p->outputs, 1, p->direction);
    struct usmp_place at = usmp_place_at(p->kept, p->direction);
    const int32_t run = p->reduced[4];
    const int32_t step = p->reduced[5];

    for (int32_t o = outputs.first; o != outputs.end; o += outputs.step) {
        struct usmp_place from = usmp_place_at(p->reduced, 1);
        const float sign = (float)p->sign;
        float most = -FLT_MAX;

        for (int32_t i = 0; i < p->count; i += run) {
            const usmp_f32 *const values = input + at.offset + from.offset;

            for (int32_t k = 0; k < run; ++k) {
                const float value = sign * values[k * step];
                most = value > most ? value : most;
            }
            usmp_next_place(&from, p->reduced, 2, 1);
        }
        output[o] = sign * most;
        usmp_next_place(&at, p->kept, 3, p->direction);
    }
}

void usmp_reduce_sum_f32(
    const struct usmp_reduce_sum_f32_parameters *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk outputs = usmp_walk_along(p->outputs, 1, p->direction);
    struct usmp_place at = usmp_place_at(p->kept, p->direction);
    const int32_t run = p->reduced[4];
    const int32_t step = p->reduced[5];

    for (int32_t o = outputs.first; o != outputs.end; o += outputs.step) {
        struct usmp_place from = usmp_place_at(p->reduced, 1);
        float sum = 0.0f;

        for (int32_t i = 0; i < p->count; i += run) {
            const usmp_f32 *const values = input + at.offset + from.offset;

            for (int32_t k = 0; k < run; ++k) {
                sum += values[k * step];
            }
            usmp_next_place(&from, p->reduced, 2, 1);
        }
        output[o] = sum / p->divisor;
        usmp_next_place(&at, p->kept, 3, p->direction);
    }
}
