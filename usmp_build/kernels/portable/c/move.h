/* Blocks that move along several axes, each with its own steps in input and output; elements of any type. */
#ifndef USMP_MOVE_H
#define USMP_MOVE_H

#include "move_mve.h"
#include "usmp.h"

/* Blocks of `size` bytes.  `lines` is how many lines of `count` blocks there are: the product of the other axes' sizes.
 * Steps and offsets are in bytes; a step below 0 goes backward through a tensor, a step of 0 stays. */
struct usmp_move_parameters {
    int32_t size;
    int32_t count;
    int32_t input_step;
    int32_t output_step;
    int32_t lines;
    int32_t axes;
    int32_t input_offset;
    int32_t output_offset;
    int32_t direction; /* 1 forward, -1 backward */
};

/* As memmove, without a call where elements of two or four bytes move one by one: all of one is read first. */
static inline void usmp_move_bytes(const uint8_t *from, int32_t size, uint8_t *to)
{
    if (size == 2) {
        const uint8_t first = from[0];
        const uint8_t second = from[1];
        to[0] = first;
        to[1] = second;
    } else if (size == 4) {
        const uint8_t first = from[0];
        const uint8_t second = from[1];
        const uint8_t third = from[2];
        const uint8_t fourth = from[3];
        to[0] = first;
        to[1] = second;
        to[2] = third;
        to[3] = fourth;
    } else {
        usmp_move_vectors(from, size, to);
    }
}

static inline void usmp_move_run(const uint8_t *from, int32_t size, uint8_t *to)
{
    if (size == 1) {
        *to = *from;
    } else {
        usmp_move_bytes(from, size, to);
    }
}

#endif
