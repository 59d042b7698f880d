/* Statuses are ignored: whatever CMSIS-NN would refuse is refused when the plan is made. */
#include "arm_nnfunctions.h"
#include "cmsis_nn.h"

/* CMSIS-NN takes pointers without const to what it only reads. */
static inline void *usmp_cmsis_nn_pointer(const void *constant)
{
    return (void *)(uintptr_t)constant;
}

static inline cmsis_nn_dims usmp_cmsis_nn_dims(const int32_t *shape)
{
    const cmsis_nn_dims dims = {shape[0], shape[1], shape[2], shape[3]};
    return dims;
}

static inline cmsis_nn_tile usmp_cmsis_nn_tile(const int32_t *down_and_across)
{
    const cmsis_nn_tile tile = {down_and_across[1], down_and_across[0]};
    return tile;
}

static inline cmsis_nn_dims usmp_cmsis_nn_channels(int32_t channels)
{
    const cmsis_nn_dims dims = {1, 1, 1, channels};
    return dims;
}

static inline cmsis_nn_per_channel_quant_params usmp_cmsis_nn_factors(
    const int32_t *multipliers, const int32_t *shifts)
{
    const cmsis_nn_per_channel_quant_params factors = {
        (int32_t *)usmp_cmsis_nn_pointer(multipliers), (int32_t *)usmp_cmsis_nn_pointer(shifts)};
    return factors;
}

void usmp_cmsis_nn_conv_2d_s8(
    const struct usmp_cmsis_nn_convolution_parameters *p, const int8_t *input, const int8_t *filters,
    const usmp_i32 *biases, const int32_t *multipliers, const int32_t *shifts, int8_t *output, usmp_i32 *scratch)
{
    const cmsis_nn_context context = {scratch, p->scratch};
    const cmsis_nn_conv_params convolution = {
        p->input_offset, p->output_offset, usmp_cmsis_nn_tile(p->stride), usmp_cmsis_nn_tile(p->padding),
        usmp_cmsis_nn_tile(p->dilation), {p->low, p->high}};
    const cmsis_nn_per_channel_quant_params factors = usmp_cmsis_nn_factors(multipliers, shifts);
    const cmsis_nn_dims input_dims = usmp_cmsis_nn_dims(p->input), filter_dims = usmp_cmsis_nn_dims(p->filter);
    const cmsis_nn_dims output_dims = usmp_cmsis_nn_dims(p->output), bias_dims = usmp_cmsis_nn_channels(p->output[3]);

    (void)arm_convolve_wrapper_s8(
        &context, &convolution, &factors, &input_dims, input, &filter_dims, filters, &bias_dims,
        (const int32_t *)biases, &output_dims, output);
}

void usmp_cmsis_nn_depthwise_conv_2d_s8(
    const struct usmp_cmsis_nn_convolution_parameters *p, const int8_t *input, const int8_t *filters,
    const usmp_i32 *biases, const int32_t *multipliers, const int32_t *shifts, int8_t *output, usmp_i32 *scratch)
{
    const cmsis_nn_context context = {scratch, p->scratch};
    const cmsis_nn_dw_conv_params convolution = {
        p->input_offset, p->output_offset, p->depth_multiplier, usmp_cmsis_nn_tile(p->stride),
        usmp_cmsis_nn_tile(p->padding), usmp_cmsis_nn_tile(p->dilation), {p->low, p->high}};
    const cmsis_nn_per_channel_quant_params factors = usmp_cmsis_nn_factors(multipliers, shifts);
    const cmsis_nn_dims input_dims = usmp_cmsis_nn_dims(p->input), filter_dims = usmp_cmsis_nn_dims(p->filter);
    const cmsis_nn_dims output_dims = usmp_cmsis_nn_dims(p->output), bias_dims = usmp_cmsis_nn_channels(p->output[3]);

    (void)arm_depthwise_conv_wrapper_s8(
        &context, &convolution, &factors, &input_dims, input, &filter_dims, filters, &bias_dims,
        (const int32_t *)biases, &output_dims, output);
}

/* `sums` has for each output its bias, and the sum of its weights times the offset of the inputs: with Helium, in place of
 * biases. */
void usmp_cmsis_nn_fully_connected_s8(
    const struct usmp_cmsis_nn_fully_connected_parameters *p, const int8_t *input, const int8_t *weights,
    const usmp_i32 *biases, const int32_t *sums, int8_t *output)
{
    const cmsis_nn_context context = {
        usmp_cmsis_nn_pointer(sums), sums ? p->outputs * (int32_t)sizeof(int32_t) : 0};
    const cmsis_nn_fc_params connection = {p->input_offset, 0, p->output_offset, {p->low, p->high}};
    const cmsis_nn_per_tensor_quant_params factor = {p->multiplier, p->shift};
    const cmsis_nn_dims input_dims = {p->batches, 1, 1, p->inputs}, filter_dims = {p->inputs, 1, 1, p->outputs};
    const cmsis_nn_dims output_dims = {p->batches, 1, 1, p->outputs};
    const cmsis_nn_dims bias_dims = usmp_cmsis_nn_channels(p->outputs);

    (void)arm_fully_connected_s8(
        &context, &connection, &factor, &input_dims, input, &filter_dims, weights, &bias_dims, (const int32_t *)biases,
        &output_dims, output);
}

void usmp_cmsis_nn_average_pool_2d_s8(
    const struct usmp_cmsis_nn_pool_2d_parameters *p, const int8_t *input, int8_t *output, usmp_i32 *scratch)
{
    const cmsis_nn_context context = {scratch, p->scratch};
    const cmsis_nn_pool_params pooling = {
        usmp_cmsis_nn_tile(p->stride), usmp_cmsis_nn_tile(p->padding), {p->low, p->high}};
    const cmsis_nn_dims input_dims = usmp_cmsis_nn_dims(p->input), filter_dims = usmp_cmsis_nn_dims(p->filter);
    const cmsis_nn_dims output_dims = usmp_cmsis_nn_dims(p->output);

    (void)arm_avgpool_s8(&context, &pooling, &input_dims, input, &filter_dims, &output_dims, output);
}

void usmp_cmsis_nn_average_pool_2d_s16(
    const struct usmp_cmsis_nn_pool_2d_parameters *p, const usmp_i16 *input, usmp_i16 *output, usmp_i32 *scratch)
{
    const cmsis_nn_context context = {scratch, p->scratch};
    const cmsis_nn_pool_params pooling = {
        usmp_cmsis_nn_tile(p->stride), usmp_cmsis_nn_tile(p->padding), {p->low, p->high}};
    const cmsis_nn_dims input_dims = usmp_cmsis_nn_dims(p->input), filter_dims = usmp_cmsis_nn_dims(p->filter);
    const cmsis_nn_dims output_dims = usmp_cmsis_nn_dims(p->output);

    (void)arm_avgpool_s16(
        &context, &pooling, &input_dims, (const int16_t *)input, &filter_dims, &output_dims, (int16_t *)output);
}

void usmp_cmsis_nn_max_pool_2d_s8(
    const struct usmp_cmsis_nn_pool_2d_parameters *p, const int8_t *input, int8_t *output, usmp_i32 *scratch)
{
    const cmsis_nn_context context = {scratch, p->scratch};
    const cmsis_nn_pool_params pooling = {
        usmp_cmsis_nn_tile(p->stride), usmp_cmsis_nn_tile(p->padding), {p->low, p->high}};
    const cmsis_nn_dims input_dims = usmp_cmsis_nn_dims(p->input), filter_dims = usmp_cmsis_nn_dims(p->filter);
    const cmsis_nn_dims output_dims = usmp_cmsis_nn_dims(p->output);

    (void)arm_max_pool_s8(&context, &pooling, &input_dims, input, &filter_dims, &output_dims, output);
}

void usmp_cmsis_nn_max_pool_2d_s16(
    const struct usmp_cmsis_nn_pool_2d_parameters *p, const usmp_i16 *input, usmp_i16 *output, usmp_i32 *scratch)
{
    const cmsis_nn_context context = {scratch, p->scratch};
    const cmsis_nn_pool_params pooling = {
        usmp_cmsis_nn_tile(p->stride), usmp_cmsis_nn_tile(p->padding), {p->low, p->high}};
    const cmsis_nn_dims input_dims = usmp_cmsis_nn_dims(p->input), filter_dims = usmp_cmsis_nn_dims(p->filter);
    const cmsis_nn_dims output_dims = usmp_cmsis_nn_dims(p->output);

    (void)arm_max_pool_s16(
        &context, &pooling, &input_dims, (const int16_t *)input, &filter_dims, &output_dims, (int16_t *)output);
}

void usmp_cmsis_nn_add_s8(
    const struct usmp_cmsis_nn_add_parameters *p, const int8_t *first, const int8_t *second, int8_t *output)
{
    (void)arm_elementwise_add_s8(
        first, second, p->first_offset, p->first_multiplier, p->first_shift, p->second_offset, p->second_multiplier,
        p->second_shift, p->left_shift, output, p->output_offset, p->output_multiplier, p->output_shift, p->low,
        p->high, p->size);
}

void usmp_cmsis_nn_add_s16(
    const struct usmp_cmsis_nn_add_parameters *p, const usmp_i16 *first, const usmp_i16 *second, usmp_i16 *output)
{
    (void)arm_elementwise_add_s16(
        (const int16_t *)first, (const int16_t *)second, p->first_offset, p->first_multiplier, p->first_shift,
        p->second_offset, p->second_multiplier, p->second_shift, p->left_shift, (int16_t *)output, p->output_offset,
        p->output_multiplier, p->output_shift, p->low, p->high, p->size);
}

void usmp_cmsis_nn_mul_s8(
    const struct usmp_cmsis_nn_mul_parameters *p, const int8_t *first, const int8_t *second, int8_t *output)
{
    (void)arm_elementwise_mul_s8(
        first, second, p->first_offset, p->second_offset, output, p->output_offset, p->multiplier, p->shift, p->low,
        p->high, p->size);
}

void usmp_cmsis_nn_mul_s16(
    const struct usmp_cmsis_nn_mul_parameters *p, const usmp_i16 *first, const usmp_i16 *second, usmp_i16 *output)
{
    (void)arm_elementwise_mul_s16(
        (const int16_t *)first, (const int16_t *)second, p->first_offset, p->second_offset, (int16_t *)output,
        p->output_offset, p->multiplier, p->shift, p->low, p->high, p->size);
}

void usmp_cmsis_nn_softmax_s8(
    const struct usmp_cmsis_nn_softmax_parameters *p, const int8_t *input, int8_t *output)
{
    arm_softmax_s8(input, p->rows, p->size, p->multiplier, p->shift, p->least, output);
}

void usmp_cmsis_nn_softmax_s8_s16(
    const struct usmp_cmsis_nn_softmax_parameters *p, const int8_t *input, usmp_i16 *output)
{
    arm_softmax_s8_s16(input, p->rows, p->size, p->multiplier, p->shift, p->least, (int16_t *)output);
}

void usmp_cmsis_nn_softmax_s16(
    const struct usmp_cmsis_nn_softmax_parameters *p, const usmp_i16 *input, const int16_t *exponentials,
    const int16_t *reciprocals, usmp_i16 *output)
{
    const cmsis_nn_softmax_lut_s16 tables = {exponentials, reciprocals};

    (void)arm_softmax_s16(
        (const int16_t *)input, p->rows, p->size, p->multiplier, p->shift, &tables, (int16_t *)output);
}
