#include "requantize.h"
#include "walk.h"

void usmp_requantize_s32_s16(const struct usmp_requantize_parameters *p, const usmp_i32 *input, usmp_i16 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (usmp_i16)usmp_requantize_one(p, input[i]);
    }
}
