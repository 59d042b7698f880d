/* Operands that are stretched along some axes of the output. */
#ifndef USMP_BROADCAST_H
#define USMP_BROADCAST_H

#include "usmp.h"

/* The place of an output element and of its operands: `moves` were made along each axis. */
struct usmp_position {
    int32_t moves[5];
    int32_t first;
    int32_t second;
};

/* Returns the place of the first output element, or of the last one for a direction of -1.  `axes` has size, first step
 * and second step of each axis; a step is 0 where the operand is stretched. */
static inline struct usmp_position usmp_position_at(const int32_t *axes, int32_t direction)
{
    struct usmp_position at = {{0, 0, 0, 0, 0}, 0, 0};

    for (int32_t axis = 0; direction < 0 && axis < 5; ++axis) {
        at.first += (axes[3 * axis] - 1) * axes[3 * axis + 1];
        at.second += (axes[3 * axis] - 1) * axes[3 * axis + 2];
    }
    return at;
}

/* Moves on to the next output element in this direction; after the last one, to where it began. */
static inline void usmp_next_position(struct usmp_position *at, const int32_t *axes, int32_t direction)
{
    for (int32_t axis = 4; axis >= 0; --axis) {
        const int32_t size = axes[3 * axis];
        const int32_t first = direction * axes[3 * axis + 1];
        const int32_t second = direction * axes[3 * axis + 2];

        at->first += first;
        at->second += second;
        if (++at->moves[axis] < size) {
            return;
        }
        at->moves[axis] = 0;
        at->first -= size * first;
        at->second -= size * second;
    }
}

#endif
