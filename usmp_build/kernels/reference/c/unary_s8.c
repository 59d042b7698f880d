#include "arithmetic.h"
#include "unary.h"

void usmp_lookup_s8(const struct usmp_elements *p, const int8_t *input, const int8_t *table, int8_t *output)
{
    for (int32_t i = 0; i < p->size; ++i) {
        output[i] = table[input[i] + 128];
    }
}

void usmp_clamp_s8(const struct usmp_clamp_s8_parameters *p, const int8_t *input, int8_t *output)
{
    for (int32_t i = 0; i < p->size; ++i) {
        output[i] = (int8_t)usmp_clamp(input[i], p->low, p->high);
    }
}
