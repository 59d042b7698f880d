/* SELECT and SELECT_V2, which pick an element of one of two operands. */
#include "pairs.h"
#include "usmp.h"
#include "walk.h"

/* Both operands have `axes`, the condition has `condition_axes` in place of either. */
struct usmp_select_parameters {
    int32_t size;
    int32_t axes[15];
    int32_t condition_axes[15];
    int32_t direction; /* 1 forward, -1 backward */
};

void usmp_select_s8(
    const struct usmp_select_parameters *p, const uint8_t *condition, const int8_t *first, const int8_t *second,
    int8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    struct usmp_pair at = usmp_pair_at(p->axes, p->direction);
    struct usmp_pair when = usmp_pair_at(p->condition_axes, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        const int8_t one = first[at.first];
        const int8_t other = second[at.second];
        output[i] = condition[when.first] != 0 ? one : other;
        usmp_next_pair(&at, p->axes, p->direction);
        usmp_next_pair(&when, p->condition_axes, p->direction);
    }
}
