/* Many elements become one, along any axes.  Axes are size and step of each, the outermost first; neighbors are merged,
 * so that three are enough. */
#ifndef USMP_REDUCE_H
#define USMP_REDUCE_H

#include "usmp.h"

/* Of each of `outputs` there are `count` elements, along the axes that are reduced: runs along the last of these. */
struct usmp_reduce_max_parameters {
    int32_t outputs;
    int32_t count;
    int32_t kept[6];
    int32_t reduced[6];
    int32_t sign;      /* 1 for the largest, -1 for the least */
    int32_t direction; /* 1 forward, -1 backward */
};

/* `offset` is added to each sum: it takes the zero point of all inputs away.  Low and high are the limits of the output
 * less its zero point. */
struct usmp_reduce_sum_parameters {
    int32_t outputs;
    int32_t count;
    int32_t kept[6];
    int32_t reduced[6];
    int32_t offset;
    int32_t multiplier;
    int32_t shift;
    int32_t output_zero_point;
    int32_t low;
    int32_t high;
    int32_t direction; /* 1 forward, -1 backward */
};

struct usmp_reduce_sum_f32_parameters {
    int32_t outputs;
    int32_t count;
    int32_t kept[6];
    int32_t reduced[6];
    float divisor;
    int32_t direction; /* 1 forward, -1 backward */
};

/* A place in the input: `moves` were made along each axis. */
struct usmp_place {
    int32_t moves[3];
    int32_t offset;
};

/* Returns the first place along three axes, or the last one for a direction of -1. */
static inline struct usmp_place usmp_place_at(const int32_t *axes, int32_t direction)
{
    struct usmp_place at = {{0, 0, 0}, 0};

    for (int32_t axis = 0; direction < 0 && axis < 3; ++axis) {
        at.offset += (axes[2 * axis] - 1) * axes[2 * axis + 1];
    }
    return at;
}

/* Moves on to the next place along the first `count` axes, in this direction; after the last one, to where it began. */
static inline void usmp_next_place(
    struct usmp_place *at, const int32_t *axes, int32_t count, int32_t direction)
{
    for (int32_t axis = count - 1; axis >= 0; --axis) {
        const int32_t size = axes[2 * axis];
        const int32_t step = direction * axes[2 * axis + 1];

        at->offset += step;
        if (++at->moves[axis] < size) {
            return;
        }
        at->moves[axis] = 0;
        at->offset -= size * step;
    }
}

#endif
