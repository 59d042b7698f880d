/* Comparisons of quantized numbers of different scales; LESS is GREATER with operands exchanged. */
#include "arithmetic.h"
#include "pairs.h"
#include "usmp.h"
#include "walk.h"

/* Both operands, less their zero points, are brought to steps of 1/256.  Shifts are to the right. */
struct usmp_compare_parameters {
    int32_t size;
    int32_t axes[15];
    int32_t first_zero_point;
    int32_t first_multiplier;
    int32_t first_shift;
    int32_t second_zero_point;
    int32_t second_multiplier;
    int32_t second_shift;
    int32_t equal; /* whether equal numbers make 1 */
    int32_t direction; /* 1 forward, -1 backward */
};

/* The first number less the second one, in steps of 1/256. */
static inline int32_t usmp_difference(const struct usmp_compare_parameters *p, int32_t first, int32_t second)
{
    const int32_t a = usmp_scale_down((first - p->first_zero_point) * 256, p->first_multiplier, p->first_shift);
    const int32_t b = usmp_scale_down((second - p->second_zero_point) * 256, p->second_multiplier, p->second_shift);
    return a - b;
}

void usmp_equal_s8(
    const struct usmp_compare_parameters *p, const int8_t *first, const int8_t *second, uint8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    struct usmp_pair at = usmp_pair_at(p->axes, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (usmp_difference(p, first[at.first], second[at.second]) == 0) == p->equal;
        usmp_next_pair(&at, p->axes, p->direction);
    }
}

void usmp_greater_s8(
    const struct usmp_compare_parameters *p, const int8_t *first, const int8_t *second, uint8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    struct usmp_pair at = usmp_pair_at(p->axes, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = usmp_difference(p, first[at.first], second[at.second]) > -p->equal;
        usmp_next_pair(&at, p->axes, p->direction);
    }
}
