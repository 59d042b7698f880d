/* Calls of CMSIS-NN 6 and 7: its structs, filled in. */
#ifndef USMP_CMSIS_NN_H
#define USMP_CMSIS_NN_H

#include "usmp.h"

/* Shapes are in the order n, h, w, c; strides, padding and dilations first down, then across.  Offsets are added: that of
 * an input is its zero point with the other sign.  Low and high are the limits of the output.  `scratch` is in bytes. */
struct usmp_cmsis_nn_convolution_parameters {
    int32_t input[4];
    int32_t filter[4];
    int32_t output[4];
    int32_t depth_multiplier; /* of a depthwise convolution */
    int32_t stride[2];
    int32_t padding[2];
    int32_t dilation[2];
    int32_t input_offset;
    int32_t output_offset;
    int32_t low;
    int32_t high;
    int32_t scratch;
};

struct usmp_cmsis_nn_fully_connected_parameters {
    int32_t batches;
    int32_t inputs;
    int32_t outputs;
    int32_t input_offset;
    int32_t output_offset;
    int32_t multiplier;
    int32_t shift;
    int32_t low;
    int32_t high;
};

struct usmp_cmsis_nn_pool_2d_parameters {
    int32_t input[4];
    int32_t filter[4];
    int32_t output[4];
    int32_t stride[2];
    int32_t padding[2];
    int32_t low;
    int32_t high;
    int32_t scratch;
};

struct usmp_cmsis_nn_add_parameters {
    int32_t size;
    int32_t first_offset;
    int32_t first_multiplier;
    int32_t first_shift;
    int32_t second_offset;
    int32_t second_multiplier;
    int32_t second_shift;
    int32_t left_shift;
    int32_t output_offset;
    int32_t output_multiplier;
    int32_t output_shift;
    int32_t low;
    int32_t high;
};

struct usmp_cmsis_nn_mul_parameters {
    int32_t size;
    int32_t first_offset;
    int32_t second_offset;
    int32_t output_offset;
    int32_t multiplier;
    int32_t shift;
    int32_t low;
    int32_t high;
};

struct usmp_cmsis_nn_softmax_parameters {
    int32_t rows;
    int32_t size;
    int32_t multiplier;
    int32_t shift;
    int32_t least; /* difference from the maximum of a row that counts */
};

#endif
