#include "interpolated.h"
#include "unary.h"
#include "walk.h"

/* Any function of int16_t, between 513 of its values from that of -32768 on. */
void usmp_lookup_s16(
    const struct usmp_elements *p, const usmp_i16 *input, const int16_t *table, usmp_i16 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (int16_t)usmp_interpolated(table, input[i]);
    }
}
