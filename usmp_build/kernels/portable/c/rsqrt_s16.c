/* RSQRT of int16_t whose zero points are 0. */
#include "arithmetic.h"
#include "inverse_root.h"
#include "usmp.h"
#include "walk.h"

/* The root has 20 bits after the point, which the shift takes away. */
struct usmp_rsqrt_s16_parameters {
    int32_t size;
    int32_t multiplier;
    int32_t shift;
    int32_t direction; /* 1 forward, -1 backward */
};

/* 0, and what is below it and has no root, becomes the largest number. */
static inline int32_t usmp_rsqrt_one(const struct usmp_rsqrt_s16_parameters *p, int32_t value)
{
    const struct usmp_factor root = usmp_inverse_root(value);
    const int32_t fine = usmp_scale(1, root.multiplier, root.shift + 20);
    return value <= 0 ? INT16_MAX : usmp_minimum(usmp_scale(fine, p->multiplier, p->shift), INT16_MAX);
}

void usmp_rsqrt_s16(const struct usmp_rsqrt_s16_parameters *p, const usmp_i16 *input, usmp_i16 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (int16_t)usmp_rsqrt_one(p, input[i]);
    }
}
