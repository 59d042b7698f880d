/* Two directions: a kernel takes the same turns in both, from the first to the last or from the last to the first.
 * In a turn it reads all that it needs before it writes. */
#ifndef USMP_WALK_H
#define USMP_WALK_H

#include "usmp.h"

/* for (i = walk.first; i != walk.end; i += walk.step) */
struct usmp_walk {
    int32_t first;
    int32_t end;
    int32_t step;
};

/* Along the multiples of `size` that are below `count`, which is at least 1. */
static inline struct usmp_walk usmp_walk_along(int32_t count, int32_t size, int32_t direction)
{
    const int32_t last = count - 1 - (count - 1) % size;
    struct usmp_walk walk;
    walk.first = direction < 0 ? last : 0;
    walk.end = direction < 0 ? -size : last + size;
    walk.step = direction < 0 ? -size : size;
    return walk;
}

#endif
