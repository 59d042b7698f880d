/* CAST of unsigned integers: those that the new type does not hold keep their low bits. */
#include "unary.h"
#include "usmp.h"
#include "walk.h"

void usmp_cast_u32_s8(const struct usmp_elements *p, const usmp_u32 *input, int8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (int8_t)input[i];
    }
}
