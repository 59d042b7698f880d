/* BROADCAST_ARGS: the shape to which tensors of two shapes are broadcast. */
#include "usmp.h"
#include "walk.h"

/* `count` is the greater of the others. */
struct usmp_broadcast_args_parameters {
    int32_t first_count;
    int32_t second_count;
    int32_t count;
    int32_t direction; /* 1 forward, -1 backward */
};

void usmp_broadcast_args_s32(
    const struct usmp_broadcast_args_parameters *p, const usmp_i32 *first, const usmp_i32 *second,
    usmp_i32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->count, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        const int32_t a = i - (p->count - p->first_count); /* below 0: an axis that this shape lacks */
        const int32_t b = i - (p->count - p->second_count);
        const usmp_i32 of_first = a < 0 ? 1 : first[a];
        const usmp_i32 of_second = b < 0 ? 1 : second[b];

        output[i] = of_first == 1 ? of_second : of_first;
    }
}
