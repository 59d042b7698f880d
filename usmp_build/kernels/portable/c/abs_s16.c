/* ABS of quantized numbers whose zero point is 0. */
#include "arithmetic.h"
#include "usmp.h"
#include "walk.h"

struct usmp_abs_s16_parameters {
    int32_t size;
    int32_t multiplier;
    int32_t shift;
    int32_t direction; /* 1 forward, -1 backward */
};

void usmp_abs_s16(const struct usmp_abs_s16_parameters *p, const usmp_i16 *input, usmp_i16 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        const int32_t number = input[i];
        const uint32_t magnitude = number < 0 ? 0u - (uint32_t)number : (uint32_t)number;
        const int32_t scaled = usmp_scale((int32_t)magnitude, p->multiplier, p->shift);
        output[i] = (int16_t)usmp_clamp(scaled, INT16_MIN, INT16_MAX);
    }
}
