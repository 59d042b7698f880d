/* CAST of floats to integers, towards 0: what is out of range becomes the nearest integer in range, and NaN the least
 * one. */
#include "unary.h"
#include "usmp.h"
#include "walk.h"

struct usmp_cast_f32_parameters {
    int32_t size;
    int32_t low;
    int32_t high;
    int32_t direction; /* 1 forward, -1 backward */
};

static inline int32_t usmp_integer_within(float value, int32_t low, int32_t high)
{
    if (value >= (float)high) {
        return high;
    }
    return value > (float)low ? (int32_t)value : low;
}

void usmp_cast_f32_s8(const struct usmp_cast_f32_parameters *p, const usmp_f32 *input, int8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (int8_t)usmp_integer_within(input[i], p->low, p->high);
    }
}

void usmp_cast_f32_u32(const struct usmp_elements *p, const usmp_f32 *input, usmp_u32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = input[i] >= 4294967296.0f ? UINT32_MAX : input[i] > 0.0f ? (uint32_t)input[i] : 0;
    }
}
