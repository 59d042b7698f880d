/* LOGICAL_NOT: any byte but 0 is true. */
#include "unary.h"
#include "usmp.h"
#include "walk.h"

void usmp_logical_not(const struct usmp_elements *p, const uint8_t *input, uint8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = input[i] == 0;
    }
}
