/* TRANSPOSE: the axes of a tensor in another order; elements of any type. */
#ifndef USMP_TRANSPOSE_H
#define USMP_TRANSPOSE_H

#include "usmp.h"

/* Runs of `size` bytes stay together.  An output row has runs along four axes, the innermost last; along each of them
 * the run comes from a row of the window that is `rows` further, and `steps` bytes further in that row. */
struct usmp_transpose_parameters {
    int32_t size;
    int32_t extents[4];
    int32_t rows[4];
    int32_t steps[4];
    int32_t direction; /* 1 forward, -1 backward */
};

#endif
