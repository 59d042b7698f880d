/* Which element is the largest or the least. */
#include "reduce.h"
#include "walk.h"

/* Which of the elements it is, the first one of several that are equal. */
void usmp_arg_max_s8(const struct usmp_reduce_max_parameters *p, const int8_t *input, usmp_i32 *output)
{
    const struct usmp_walk outputs = usmp_walk_along(p->outputs, 1, p->direction);
    struct usmp_place at = usmp_place_at(p->kept, p->direction);

    for (int32_t o = outputs.first; o != outputs.end; o += outputs.step) {
        const int8_t *const from = input + at.offset;
        const int32_t step = p->reduced[5];
        int32_t most = p->sign * from[0];
        int32_t best = 0;

        for (int32_t i = 1; i < p->count; ++i) {
            const int32_t value = p->sign * from[i * step];
            best = value > most ? i : best;
            most = value > most ? value : most;
        }
        output[o] = best;
        usmp_next_place(&at, p->kept, 3, p->direction);
    }
}

/* Which of the elements it is, the first one of several that are equal. */
void usmp_arg_max_f32(
    const struct usmp_reduce_max_parameters *p, const usmp_f32 *input, usmp_i32 *output)
{
    const struct usmp_walk outputs = usmp_walk_along(p->outputs, 1, p->direction);
    struct usmp_place at = usmp_place_at(p->kept, p->direction);

    for (int32_t o = outputs.first; o != outputs.end; o += outputs.step) {
        const usmp_f32 *const from = input + at.offset;
        const int32_t step = p->reduced[5];
        const float sign = (float)p->sign;
        float most = sign * from[0];
        int32_t best = 0;

        for (int32_t i = 1; i < p->count; ++i) {
            const float value = sign * from[i * step];
            best = value > most ? i : best;
            most = value > most ? value : most;
        }
        output[o] = best;
        usmp_next_place(&at, p->kept, 3, p->direction);
    }
}
