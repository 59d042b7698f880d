/* SVDF: filters over inputs, then over the last `memory` results of each, which are the state.  The results of `rank`
 * filters in a row add up to a unit.
 *
 * The state has, for each batch, the results of each filter, oldest first. */
#ifndef USMP_SVDF_H
#define USMP_SVDF_H

#include "usmp.h"

/* Low and high are the limits of the output less its zero point. */
struct usmp_svdf_s8_parameters {
    int32_t batches;
    int32_t inputs;
    int32_t units;
    int32_t rank;
    int32_t memory;
#if USMP_S8
    int32_t input_zero_point;
    int32_t state_zero_point; /* 0 with a state of int16 */
    int32_t output_zero_point;
#endif
    usmp_number low;
    usmp_number high;
};

#endif
