/* PRELU of quantized numbers: what is below 0 is multiplied by the second operand. */
#include "arithmetic.h"
#include "pairs.h"
#include "usmp.h"
#include "walk.h"

/* Low and high are the limits of the output less its zero point. */
struct usmp_prelu_parameters {
    int32_t size;
    int32_t axes[15];
    int32_t input_zero_point;
    int32_t alpha_zero_point;
    int32_t multiplier;
    int32_t shift;
    int32_t product_multiplier;
    int32_t product_shift;
    int32_t output_zero_point;
    int32_t low;
    int32_t high;
    int32_t direction; /* 1 forward, -1 backward */
};

static inline int32_t usmp_prelu_one(const struct usmp_prelu_parameters *p, int32_t value, int32_t alpha)
{
    const int32_t real = value - p->input_zero_point;
    const int32_t product = real * (alpha - p->alpha_zero_point);
    const int32_t scaled = real < 0 ? usmp_scale(product, p->product_multiplier, p->product_shift)
                                    : usmp_scale(real, p->multiplier, p->shift);
    return usmp_clamp(scaled, p->low, p->high) + p->output_zero_point;
}

void usmp_prelu_s16(
    const struct usmp_prelu_parameters *p, const usmp_i16 *first, const int8_t *second, usmp_i16 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    struct usmp_pair at = usmp_pair_at(p->axes, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (usmp_i16)usmp_prelu_one(p, first[at.first], second[at.second]);
        usmp_next_pair(&at, p->axes, p->direction);
    }
}
