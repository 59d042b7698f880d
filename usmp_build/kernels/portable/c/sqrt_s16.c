/* SQRT of quantized numbers whose zero point is 0, rounded down; 0 of those below it. */
#include <math.h>

#include "usmp.h"
#include "walk.h"

struct usmp_sqrt_s16_parameters {
    int32_t size;
    float input_scale;
    float output_scale;
    int32_t direction; /* 1 forward, -1 backward */
};

void usmp_sqrt_s16(const struct usmp_sqrt_s16_parameters *p, const usmp_i16 *input, usmp_i16 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        const float real = input[i] < 0 ? 0.0f : (float)input[i] * p->input_scale;
        const float steps = sqrtf(real) / p->output_scale;
        output[i] = steps < 32767.0f ? (int16_t)steps : INT16_MAX;
    }
}
