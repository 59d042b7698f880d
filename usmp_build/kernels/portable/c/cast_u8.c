/* CAST of unsigned integers of eight bits: those that the new type does not hold keep their low bits. */
#include "unary.h"
#include "usmp.h"
#include "walk.h"

void usmp_cast_u8_s8(const struct usmp_elements *p, const uint8_t *input, int8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (int8_t)input[i];
    }
}
