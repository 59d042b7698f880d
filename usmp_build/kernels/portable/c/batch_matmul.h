/* Matrices along three outer axes, of which an operand may be stretched along some. */
#ifndef USMP_BATCH_MATMUL_H
#define USMP_BATCH_MATMUL_H

#include "usmp.h"

/* Where the matrix of an operand begins that batch number `batch` reads.  A step is 0 where it is stretched. */
static inline int32_t usmp_matrix_of(int32_t batch, const int32_t *sizes, const int32_t *steps)
{
    return batch / (sizes[1] * sizes[2]) * steps[0] + batch / sizes[2] % sizes[1] * steps[1]
           + batch % sizes[2] * steps[2];
}

#endif
