/* LOGICAL_AND and LOGICAL_OR: any byte but 0 is true, and what is true becomes 1. */
#include "pairs.h"
#include "usmp.h"
#include "walk.h"

void usmp_logical_and(
    const struct usmp_pairs *p, const uint8_t *first, const uint8_t *second, uint8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    struct usmp_pair at = usmp_pair_at(p->axes, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (first[at.first] != 0) & (second[at.second] != 0);
        usmp_next_pair(&at, p->axes, p->direction);
    }
}

void usmp_logical_or(
    const struct usmp_pairs *p, const uint8_t *first, const uint8_t *second, uint8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    struct usmp_pair at = usmp_pair_at(p->axes, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (first[at.first] != 0) | (second[at.second] != 0);
        usmp_next_pair(&at, p->axes, p->direction);
    }
}
