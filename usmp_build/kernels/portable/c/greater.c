/* GREATER and GREATER_EQUAL of numbers as they are, and LESS and LESS_EQUAL, where operands are exchanged. */
#include "pairs.h"
#include "usmp.h"
#include "walk.h"

void usmp_greater_f32(
    const struct usmp_pairs *p, const usmp_f32 *first, const usmp_f32 *second, uint8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    struct usmp_pair at = usmp_pair_at(p->axes, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = first[at.first] > second[at.second];
        usmp_next_pair(&at, p->axes, p->direction);
    }
}

void usmp_greater_equal_f32(
    const struct usmp_pairs *p, const usmp_f32 *first, const usmp_f32 *second, uint8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    struct usmp_pair at = usmp_pair_at(p->axes, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = first[at.first] >= second[at.second];
        usmp_next_pair(&at, p->axes, p->direction);
    }
}
