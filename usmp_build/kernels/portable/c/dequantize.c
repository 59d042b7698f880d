#include "quantize.h"
#include "walk.h"

void usmp_dequantize_s8_f32(const struct usmp_quantize_parameters *p, const int8_t *input, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = p->scale * (float)(input[i] - p->zero_point);
    }
}
