#include "unary.h"
#include "walk.h"

void usmp_lookup_s8(const struct usmp_elements *p, const int8_t *input, const int8_t *table, int8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = table[input[i] + 128];
    }
}
