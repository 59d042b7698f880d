#include "requantize.h"
#include "walk.h"

void usmp_requantize_s16_s32(const struct usmp_requantize_parameters *p, const usmp_i16 *input, usmp_i32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (usmp_i32)usmp_requantize_one(p, input[i]);
    }
}
