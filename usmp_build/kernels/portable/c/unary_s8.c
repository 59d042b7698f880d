#include "look_up_mve.h"
#include "unary.h"

/* Any function of int8_t, by its 256 values from that of -128 on: LOGISTIC, TANH, HARD_SWISH, LOOKUP. */
void usmp_lookup_s8(const struct usmp_elements *p, const int8_t *input, const int8_t *table, int8_t *output)
{
    usmp_look_up_s8(p, input, table, output);
}
