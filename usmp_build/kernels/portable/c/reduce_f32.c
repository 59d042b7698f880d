#include <float.h>

#include "reduce.h"
#include "walk.h"

void usmp_reduce_max_f32(
    const struct usmp_reduce_max_parameters *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk outputs = usmp_walk_along(p->outputs, 1, p->direction);
    struct usmp_place at = usmp_place_at(p->kept, p->direction);

    for (int32_t o = outputs.first; o != outputs.end; o += outputs.step) {
        struct usmp_place from = usmp_place_at(p->reduced, 1);
        const float sign = (float)p->sign;
        float most = -FLT_MAX;

        for (int32_t i = 0; i < p->count; ++i) {
            const float value = sign * input[at.offset + from.offset];
            most = value > most ? value : most;
            usmp_next_place(&from, p->reduced, 1);
        }
        output[o] = sign * most;
        usmp_next_place(&at, p->kept, p->direction);
    }
}

void usmp_reduce_sum_f32(
    const struct usmp_reduce_sum_f32_parameters *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk outputs = usmp_walk_along(p->outputs, 1, p->direction);
    struct usmp_place at = usmp_place_at(p->kept, p->direction);

    for (int32_t o = outputs.first; o != outputs.end; o += outputs.step) {
        struct usmp_place from = usmp_place_at(p->reduced, 1);
        float sum = 0.0f;

        for (int32_t i = 0; i < p->count; ++i) {
            sum += input[at.offset + from.offset];
            usmp_next_place(&from, p->reduced, 1);
        }
        output[o] = sum / p->divisor;
        usmp_next_place(&at, p->kept, p->direction);
    }
}
