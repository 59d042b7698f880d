#include <math.h>

#include "quantize.h"
#include "walk.h"

static inline int32_t usmp_quantize_one(
    const struct usmp_quantize_parameters *p, float value, int32_t least, int32_t most)
{
    const float steps = roundf(value / p->scale);
    const float low = (float)(least - p->zero_point);
    const float high = (float)(most - p->zero_point);

    if (steps >= high) {
        return most;
    }
    return steps > low ? (int32_t)steps + p->zero_point : least;
}

/* Rounds halves away from zero; what is out of range becomes the nearest value in range, and NaN the least one. */
void usmp_quantize_f32_s8(const struct usmp_quantize_parameters *p, const usmp_f32 *input, int8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (int8_t)usmp_quantize_one(p, input[i], INT8_MIN, INT8_MAX);
    }
}

/* Rounds halves away from zero; what is out of range becomes the nearest value in range, and NaN the least one. */
void usmp_quantize_f32_s16(
    const struct usmp_quantize_parameters *p, const usmp_f32 *input, usmp_i16 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (int16_t)usmp_quantize_one(p, input[i], INT16_MIN, INT16_MAX);
    }
}
