/* Rows along four axes, along some of which an operand may be stretched. */
#ifndef USMP_BATCH_MATMUL_H
#define USMP_BATCH_MATMUL_H

#include "usmp.h"

/* Where an operand begins that row number `row` reads, in elements.  A step is 0 where it is the same for all. */
static inline int32_t usmp_place_of(int32_t row, const int32_t *sizes, const int32_t *steps)
{
    int32_t place = 0;

    for (int32_t axis = 3; axis >= 0; --axis) {
        place += row % sizes[axis] * steps[axis];
        row /= sizes[axis];
    }
    return place;
}

#endif
