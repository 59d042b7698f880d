/* Operands that are stretched along some axes of the output. */
#ifndef USMP_BROADCAST_H
#define USMP_BROADCAST_H

#include "usmp.h"

/* The place of an output element and of its operands. */
struct usmp_position {
    int32_t index[5];
    int32_t first;
    int32_t second;
};

/* Moves on to the next output element; after the last one, to the first.  `axes` has size, first step and second step of
 * each axis; a step is 0 where the operand is stretched. */
static inline void usmp_next_position(struct usmp_position *at, const int32_t *axes)
{
    for (int32_t axis = 4; axis >= 0; --axis) {
        const int32_t size = axes[3 * axis];
        const int32_t first = axes[3 * axis + 1];
        const int32_t second = axes[3 * axis + 2];

        at->first += first;
        at->second += second;
        if (++at->index[axis] < size) {
            return;
        }
        at->index[axis] = 0;
        at->first -= size * first;
        at->second -= size * second;
    }
}

#endif
