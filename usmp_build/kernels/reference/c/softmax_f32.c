#include <math.h>

#include "softmax.h"

void usmp_softmax_f32(const struct usmp_softmax_f32_parameters *p, const usmp_f32 *input, usmp_f32 *output)
{
    for (int32_t row = 0; row < p->rows; ++row) {
        float maximum = -INFINITY;
        float sum = 0.0f;

        for (int32_t i = 0; i < p->size; ++i) {
            maximum = input[i] > maximum ? input[i] : maximum;
        }
        for (int32_t i = 0; i < p->size; ++i) {
            output[i] = expf((input[i] - maximum) * p->beta);
            sum += output[i];
        }
        for (int32_t i = 0; i < p->size; ++i) {
            output[i] /= sum;
        }
        input += p->size;
        output += p->size;
    }
}
