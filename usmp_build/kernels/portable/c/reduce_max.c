/* The largest or the least of integers; of truth values, 0 and 1, the least says whether all are true. */
#include "arithmetic.h"
#include "reduce.h"
#include "walk.h"

void usmp_reduce_max_s8(
    const struct usmp_reduce_max_parameters *p, const int8_t *input, int8_t *output)
{
    const struct usmp_walk outputs = usmp_walk_along(p->outputs, 1, p->direction);
    struct usmp_place at = usmp_place_at(p->kept, p->direction);
    const int32_t run = p->reduced[4];
    const int32_t step = p->reduced[5];

    for (int32_t o = outputs.first; o != outputs.end; o += outputs.step) {
        struct usmp_place from = usmp_place_at(p->reduced, 1);
        int32_t most = INT32_MIN;

        for (int32_t i = 0; i < p->count; i += run) {
            const int8_t *const values = input + at.offset + from.offset;

            for (int32_t k = 0; k < run; ++k) {
                most = usmp_maximum(most, p->sign * values[k * step]);
            }
            usmp_next_place(&from, p->reduced, 2, 1);
        }
        output[o] = (int8_t)(p->sign * most);
        usmp_next_place(&at, p->kept, 3, p->direction);
    }
}
