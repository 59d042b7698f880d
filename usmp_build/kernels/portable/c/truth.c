/* CAST to bool: any number but 0 is true. */
#include "unary.h"
#include "usmp.h"
#include "walk.h"

void usmp_truth_s8(const struct usmp_elements *p, const int8_t *input, uint8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = input[i] != 0;
    }
}
