/* MAXIMUM and MINIMUM. */
#include "pairs.h"
#include "usmp.h"
#include "walk.h"

void usmp_maximum_s8(
    const struct usmp_pairs *p, const int8_t *first, const int8_t *second, int8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    struct usmp_pair at = usmp_pair_at(p->axes, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = first[at.first] > second[at.second] ? first[at.first] : second[at.second];
        usmp_next_pair(&at, p->axes, p->direction);
    }
}

void usmp_minimum_s8(
    const struct usmp_pairs *p, const int8_t *first, const int8_t *second, int8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    struct usmp_pair at = usmp_pair_at(p->axes, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = first[at.first] < second[at.second] ? first[at.first] : second[at.second];
        usmp_next_pair(&at, p->axes, p->direction);
    }
}
