/* Bytes that move as they are: CONCATENATION, SPLIT, RESHAPE and the like; elements of any type. */
#ifndef USMP_COPY_H
#define USMP_COPY_H

#include "usmp.h"

/* `count` blocks of `size` bytes.  The first one begins at an offset, each of the others a pitch after the one before:
 * so in the input, and so in the output. */
struct usmp_copy_parameters {
    int32_t count;
    int32_t size;
    int32_t input_offset;
    int32_t input_pitch;
    int32_t output_offset;
    int32_t output_pitch;
    int32_t direction; /* 1 forward, -1 backward */
};

#endif
