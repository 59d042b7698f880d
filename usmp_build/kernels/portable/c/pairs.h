/* Elements of two operands that belong together; each operand may be stretched along some axes of the output. */
#ifndef USMP_PAIRS_H
#define USMP_PAIRS_H

#include "usmp.h"

/* `axes` has three numbers for each of five axes of the output, the innermost last: its size, and how far one step
 * along it moves in the first and in the second operand, 0 where the operand is stretched. */
struct usmp_pairs {
    int32_t size;
    int32_t axes[15];
    int32_t direction; /* 1 forward, -1 backward */
};

/* The places of two elements.  Steps are along the innermost axis, of which `left` elements are left, these included;
 * `moves` were made along the other ones. */
struct usmp_pair {
    int32_t first;
    int32_t second;
    int32_t first_step;
    int32_t second_step;
    int32_t left;
    int32_t moves[4];
};

/* How a run goes on: elements from one of each operand to the next, and of the output. */
struct usmp_pair_steps {
    int32_t first;
    int32_t second;
    int32_t output;
};

/* Returns the pair of the first output element, or of the last one for a direction of -1. */
static inline struct usmp_pair usmp_pair_at(const int32_t *axes, int32_t direction)
{
    struct usmp_pair pair = {0, 0, direction * axes[13], direction * axes[14], axes[12], {0, 0, 0, 0}};

    for (int32_t axis = 0; direction < 0 && axis < 5; ++axis) {
        pair.first += (axes[3 * axis] - 1) * axes[3 * axis + 1];
        pair.second += (axes[3 * axis] - 1) * axes[3 * axis + 2];
    }
    return pair;
}

/* Moves from the end of the innermost axis to where it begins again; after the last pair, to the first one. */
static inline void usmp_turn_pair(struct usmp_pair *pair, const int32_t *axes, int32_t direction)
{
    pair->left = axes[12];
    pair->first -= axes[12] * pair->first_step;
    pair->second -= axes[12] * pair->second_step;
    for (int32_t axis = 3; axis >= 0; --axis) {
        const int32_t size = axes[3 * axis];
        const int32_t first = direction * axes[3 * axis + 1];
        const int32_t second = direction * axes[3 * axis + 2];

        pair->first += first;
        pair->second += second;
        if (++pair->moves[axis] < size) {
            return;
        }
        pair->moves[axis] = 0;
        pair->first -= size * first;
        pair->second -= size * second;
    }
}

/* Moves on to the next pair in this direction. */
static inline void usmp_next_pair(struct usmp_pair *pair, const int32_t *axes, int32_t direction)
{
    pair->first += pair->first_step;
    pair->second += pair->second_step;
    if (--pair->left == 0) {
        usmp_turn_pair(pair, axes, direction);
    }
}

/* Moves from the first pair of a run, all pairs along the innermost axis, to that of the next run. */
static inline void usmp_next_run(struct usmp_pair *pair, const int32_t *axes, int32_t direction)
{
    pair->first += pair->left * pair->first_step;
    pair->second += pair->left * pair->second_step;
    usmp_turn_pair(pair, axes, direction);
}

#endif
