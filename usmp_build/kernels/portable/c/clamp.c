/* RELU6 of quantized numbers, which keeps the scale. */
#include "arithmetic.h"
#include "usmp.h"
#include "walk.h"

struct usmp_clamp_s8_parameters {
    int32_t size;
    int32_t low;
    int32_t high;
    int32_t direction; /* 1 forward, -1 backward */
};

void usmp_clamp_s8(const struct usmp_clamp_s8_parameters *p, const int8_t *input, int8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (int8_t)usmp_clamp(input[i], p->low, p->high);
    }
}
