#include "requantize.h"
#include "walk.h"

void usmp_requantize_u8_s8(const struct usmp_requantize_parameters *p, const uint8_t *input, int8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (int8_t)usmp_requantize_one(p, input[i]);
    }
}
