/* The interface of CMSIS-NN 6 and 7 as far as generated code uses it, for tests without CMSIS-NN: its names, the order
 * of members and of arguments. */
#ifndef ARM_NNFUNCTIONS_H
#define ARM_NNFUNCTIONS_H

#include <stdint.h>

typedef enum { ARM_CMSIS_NN_SUCCESS = 0, ARM_CMSIS_NN_ARG_ERROR = -1 } arm_cmsis_nn_status;
typedef struct { int32_t w, h; } cmsis_nn_tile;
typedef struct { void *buf; int32_t size; } cmsis_nn_context;
typedef struct { int32_t n, h, w, c; } cmsis_nn_dims;
typedef struct { int32_t *multiplier, *shift; } cmsis_nn_per_channel_quant_params;
typedef struct { int32_t multiplier, shift; } cmsis_nn_per_tensor_quant_params;
typedef struct { int32_t min, max; } cmsis_nn_activation;
typedef struct { const int16_t *exp_lut, *one_by_one_lut; } cmsis_nn_softmax_lut_s16;

typedef struct {
    int32_t input_offset, output_offset;
    cmsis_nn_tile stride, padding, dilation;
    cmsis_nn_activation activation;
} cmsis_nn_conv_params;

typedef struct {
    int32_t input_offset, output_offset, ch_mult;
    cmsis_nn_tile stride, padding, dilation;
    cmsis_nn_activation activation;
} cmsis_nn_dw_conv_params;

typedef struct {
    cmsis_nn_tile stride, padding;
    cmsis_nn_activation activation;
} cmsis_nn_pool_params;

typedef struct {
    int32_t input_offset, filter_offset, output_offset;
    cmsis_nn_activation activation;
} cmsis_nn_fc_params;

arm_cmsis_nn_status arm_convolve_wrapper_s8(
    const cmsis_nn_context *, const cmsis_nn_conv_params *, const cmsis_nn_per_channel_quant_params *,
    const cmsis_nn_dims *input_dims, const int8_t *input, const cmsis_nn_dims *filter_dims, const int8_t *filter,
    const cmsis_nn_dims *bias_dims, const int32_t *bias, const cmsis_nn_dims *output_dims, int8_t *output);

arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(
    const cmsis_nn_context *, const cmsis_nn_dw_conv_params *, const cmsis_nn_per_channel_quant_params *,
    const cmsis_nn_dims *input_dims, const int8_t *input, const cmsis_nn_dims *filter_dims, const int8_t *filter,
    const cmsis_nn_dims *bias_dims, const int32_t *bias, const cmsis_nn_dims *output_dims, int8_t *output);

arm_cmsis_nn_status arm_fully_connected_s8(
    const cmsis_nn_context *, const cmsis_nn_fc_params *, const cmsis_nn_per_tensor_quant_params *,
    const cmsis_nn_dims *input_dims, const int8_t *input, const cmsis_nn_dims *filter_dims, const int8_t *filter,
    const cmsis_nn_dims *bias_dims, const int32_t *bias, const cmsis_nn_dims *output_dims, int8_t *output);

arm_cmsis_nn_status arm_avgpool_s8(
    const cmsis_nn_context *, const cmsis_nn_pool_params *, const cmsis_nn_dims *input_dims, const int8_t *input,
    const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims, int8_t *output);
arm_cmsis_nn_status arm_avgpool_s16(
    const cmsis_nn_context *, const cmsis_nn_pool_params *, const cmsis_nn_dims *input_dims, const int16_t *input,
    const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims, int16_t *output);
arm_cmsis_nn_status arm_max_pool_s8(
    const cmsis_nn_context *, const cmsis_nn_pool_params *, const cmsis_nn_dims *input_dims, const int8_t *input,
    const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims, int8_t *output);
arm_cmsis_nn_status arm_max_pool_s16(
    const cmsis_nn_context *, const cmsis_nn_pool_params *, const cmsis_nn_dims *input_dims, const int16_t *input,
    const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims, int16_t *output);

arm_cmsis_nn_status arm_elementwise_add_s8(
    const int8_t *first, const int8_t *second, int32_t first_offset, int32_t first_multiplier, int32_t first_shift,
    int32_t second_offset, int32_t second_multiplier, int32_t second_shift, int32_t left_shift, int8_t *output,
    int32_t output_offset, int32_t output_multiplier, int32_t output_shift, int32_t low, int32_t high, int32_t size);
arm_cmsis_nn_status arm_elementwise_add_s16(
    const int16_t *first, const int16_t *second, int32_t first_offset, int32_t first_multiplier, int32_t first_shift,
    int32_t second_offset, int32_t second_multiplier, int32_t second_shift, int32_t left_shift, int16_t *output,
    int32_t output_offset, int32_t output_multiplier, int32_t output_shift, int32_t low, int32_t high, int32_t size);
arm_cmsis_nn_status arm_elementwise_mul_s8(
    const int8_t *first, const int8_t *second, int32_t first_offset, int32_t second_offset, int8_t *output,
    int32_t output_offset, int32_t multiplier, int32_t shift, int32_t low, int32_t high, int32_t size);
arm_cmsis_nn_status arm_elementwise_mul_s16(
    const int16_t *first, const int16_t *second, int32_t first_offset, int32_t second_offset, int16_t *output,
    int32_t output_offset, int32_t multiplier, int32_t shift, int32_t low, int32_t high, int32_t size);

void arm_softmax_s8(
    const int8_t *input, int32_t rows, int32_t size, int32_t multiplier, int32_t shift, int32_t least, int8_t *output);
void arm_softmax_s8_s16(
    const int8_t *input, int32_t rows, int32_t size, int32_t multiplier, int32_t shift, int32_t least, int16_t *output);
arm_cmsis_nn_status arm_softmax_s16(
    const int16_t *input, int32_t rows, int32_t size, int32_t multiplier, int32_t shift,
    const cmsis_nn_softmax_lut_s16 *tables, int16_t *output);

#endif
