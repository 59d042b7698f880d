/* Stands in for CMSIS-NN: the sums, products and extremes that it computes, one after the other, and SOFTMAX by the
 * reference kernels.  It computes nothing where scratch is less than CMSIS-NN would ask for, or shapes contradict each
 * other, writes all over the scratch that it needs, and reads as far behind weights and numbers of channels as Helium
 * does.  ARM_MATH_DSP and ARM_MATH_MVEI say which instructions it stands for. */
#include "arm_nnfunctions.h"
#include "reference.h"

#include <stdio.h>
#include <string.h>

#ifdef ARM_MATH_DSP
#define HAS_DSP 1
#else
#define HAS_DSP 0
#endif
#ifdef ARM_MATH_MVEI
#define HAS_MVE 1
#else
#define HAS_MVE 0
#endif

static int is_wrong(const char *what, int32_t given, int32_t needed)
{
#ifdef __arm__ /* without files */
    (void)what, (void)given, (void)needed;
#else
    fprintf(stderr, "CMSIS-NN: %s: %d, not %d\n", what, (int)given, (int)needed);
#endif
    return 1;
}

static void read_behind(const void *end, int32_t count)
{
    for (int32_t i = 0; HAS_MVE && i < count; ++i) {
        (void)((const volatile int8_t *)end)[i];
    }
}

static int lacks_scratch(const cmsis_nn_context *context, int32_t size)
{
    if (context->size < size || (size > 0 && !context->buf) || (uintptr_t)context->buf % 4) {
        return is_wrong("bytes of scratch", context->size, size);
    }
    if (size > 0) {
        memset(context->buf, 0xA5, (size_t)size);
    }
    return 0;
}

static int32_t requantized(int32_t value, int32_t multiplier, int32_t shift)
{
    const int32_t up = shift > 0 ? shift : 0, down = shift > 0 ? 0 : -shift;
    const int32_t high = (int32_t)(((int64_t)(int32_t)((uint32_t)value << up) * multiplier + (1 << 30)) >> 31);
    const int32_t mask = (int32_t)((1u << down) - 1), rest = high & mask;
    return (high >> down) + (rest > (mask >> 1) + (high < 0));
}

static int32_t clamped(int32_t value, const cmsis_nn_activation *limits)
{
    return value < limits->min ? limits->min : value > limits->max ? limits->max : value;
}

static int32_t columns(int32_t elements)
{
    return HAS_MVE ? 4 * ((elements + 15) / 16 * 16) : 2 * ((elements + 3) / 4 * 4) * 2;
}

/* Adds up what is under a window, times a filter: of one input channel, or of all where `channel` is -1. */
static int32_t sum_under_window(
    const cmsis_nn_conv_params *p, const cmsis_nn_dims *in, const int8_t *input, const cmsis_nn_dims *window,
    const int8_t *filter, int32_t step, int32_t y, int32_t x, int32_t channel)
{
    int32_t sum = 0;
    for (int32_t ky = 0; ky < window->h; ++ky) {
        for (int32_t kx = 0; kx < window->w; ++kx) {
            const int32_t row = y * p->stride.h - p->padding.h + ky * p->dilation.h;
            const int32_t column = x * p->stride.w - p->padding.w + kx * p->dilation.w;
            const int8_t *const pixel = input + (row * in->w + column) * in->c;
            if (row < 0 || row >= in->h || column < 0 || column >= in->w) {
                continue;
            }
            for (int32_t c = channel < 0 ? 0 : channel; c < (channel < 0 ? in->c : channel + 1); ++c) {
                const int32_t at = (ky * window->w + kx) * step + (channel < 0 ? c : 0);
                sum += (pixel[c] + p->input_offset) * filter[at];
            }
        }
    }
    return sum;
}

arm_cmsis_nn_status arm_convolve_wrapper_s8(
    const cmsis_nn_context *context, const cmsis_nn_conv_params *p, const cmsis_nn_per_channel_quant_params *factors,
    const cmsis_nn_dims *in, const int8_t *input, const cmsis_nn_dims *window, const int8_t *filters,
    const cmsis_nn_dims *bias_dims, const int32_t *bias, const cmsis_nn_dims *out, int8_t *output)
{
    const int32_t elements = window->h * window->w * window->c;
    const int is_1x1 = window->h * window->w == 1 && p->padding.h + p->padding.w == 0
        && p->dilation.h * p->dilation.w == 1;
    const int is_of_others = window->n != out->c || window->c != in->c || bias_dims->c != out->c;
    if (lacks_scratch(context, is_1x1 ? 0 : columns(elements))
        || (is_of_others && is_wrong("filters", window->n, out->c))) {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    read_behind(filters + out->c * elements, 16);
    for (int32_t n = 0; n < in->n; ++n, input += in->h * in->w * in->c) {
        for (int32_t y = 0; y < out->h; ++y) {
            for (int32_t x = 0; x < out->w; ++x) {
                for (int32_t c = 0; c < out->c; ++c) {
                    const int32_t sum = (bias ? bias[c] : 0)
                        + sum_under_window(p, in, input, window, filters + c * elements, in->c, y, x, -1);
                    const int32_t scaled = requantized(sum, factors->multiplier[c], factors->shift[c]);
                    *output++ = (int8_t)clamped(scaled + p->output_offset, &p->activation);
                }
            }
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}

static int32_t depthwise_scratch(
    const cmsis_nn_dw_conv_params *p, const cmsis_nn_dims *in, const cmsis_nn_dims *window, const cmsis_nn_dims *out)
{
    const int32_t taps = window->h * window->w;
    if (HAS_MVE && in->c == 1 && out->c > 1) {
        return columns(taps) + taps * out->c + 16; /* the filters are copied there, and then read as ordinary ones */
    }
    if (in->c != out->c || in->n != 1 || p->dilation.h * p->dilation.w != 1) {
        return 0;
    }
    if (HAS_MVE) {
        return 4 * 124 * taps;
    }
    if (window->h == 3 && window->w == 3 && p->padding.h <= 1 && p->padding.w <= 1) {
        return 0;
    }
    return HAS_DSP ? in->c * taps * 2 : 0;
}

arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(
    const cmsis_nn_context *context, const cmsis_nn_dw_conv_params *p, const cmsis_nn_per_channel_quant_params *factors,
    const cmsis_nn_dims *in, const int8_t *input, const cmsis_nn_dims *window, const int8_t *filters,
    const cmsis_nn_dims *bias_dims, const int32_t *bias, const cmsis_nn_dims *out, int8_t *output)
{
    const cmsis_nn_conv_params same = {
        p->input_offset, p->output_offset, p->stride, p->padding, p->dilation, p->activation};
    const int is_of_others = p->ch_mult * in->c != out->c || window->c != out->c || bias_dims->c != out->c;
    if (lacks_scratch(context, depthwise_scratch(p, in, window, out))
        || (is_of_others && is_wrong("channels", p->ch_mult * in->c, out->c))) {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    if (in->c == out->c && in->n == 1 && p->dilation.h * p->dilation.w == 1) {
        const int32_t lanes = -out->c & 3;
        read_behind(filters + window->h * window->w * out->c, lanes);
        read_behind(bias ? bias + out->c : NULL, bias ? 4 * lanes : 0);
        read_behind(factors->multiplier + out->c, 4 * lanes);
        read_behind(factors->shift + out->c, 4 * lanes);
    }
    for (int32_t n = 0; n < in->n; ++n, input += in->h * in->w * in->c) {
        for (int32_t y = 0; y < out->h; ++y) {
            for (int32_t x = 0; x < out->w; ++x) {
                for (int32_t c = 0; c < out->c; ++c) {
                    const int32_t sum = (bias ? bias[c] : 0)
                        + sum_under_window(&same, in, input, window, filters + c, out->c, y, x, c / p->ch_mult);
                    const int32_t scaled = requantized(sum, factors->multiplier[c], factors->shift[c]);
                    *output++ = (int8_t)clamped(scaled + p->output_offset, &p->activation);
                }
            }
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_fully_connected_s8(
    const cmsis_nn_context *context, const cmsis_nn_fc_params *p, const cmsis_nn_per_tensor_quant_params *factor,
    const cmsis_nn_dims *in, const int8_t *input, const cmsis_nn_dims *weight_dims, const int8_t *weights,
    const cmsis_nn_dims *bias_dims, const int32_t *bias, const cmsis_nn_dims *out, int8_t *output)
{
    const int32_t *const sums = (const int32_t *)context->buf; /* with Helium, of bias and input offset */
    const int32_t size = out->c * (int32_t)sizeof(int32_t);
    if ((HAS_MVE && context->size < size && is_wrong("bytes of sums", context->size, size))
        || ((weight_dims->n != in->c || bias_dims->c != out->c) && is_wrong("weights", weight_dims->n, in->c))) {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t n = 0; n < in->n; ++n, input += in->c) {
        for (int32_t i = 0; i < out->c; ++i) {
            int32_t sum = HAS_MVE ? sums[i] : bias ? bias[i] : 0;
            for (int32_t k = 0; k < in->c; ++k) {
                sum += (input[k] + (HAS_MVE ? 0 : p->input_offset)) * weights[i * in->c + k];
            }
            sum = requantized(sum, factor->multiplier, factor->shift) + p->output_offset;
            *output++ = (int8_t)clamped(sum, &p->activation);
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}

#define POOL(NAME, TYPE, IS_AVERAGE)                                                                                   \
    arm_cmsis_nn_status NAME(                                                                                          \
        const cmsis_nn_context *context, const cmsis_nn_pool_params *p, const cmsis_nn_dims *in, const TYPE *input,    \
        const cmsis_nn_dims *window, const cmsis_nn_dims *out, TYPE *output)                                           \
    {                                                                                                                  \
        if (lacks_scratch(context, (IS_AVERAGE) && HAS_DSP && !HAS_MVE ? in->c * 4 : 0)) {                             \
            return ARM_CMSIS_NN_ARG_ERROR;                                                                             \
        }                                                                                                              \
        for (int32_t at = 0; at < out->h * out->w * out->c; ++at) {                                                    \
            const int32_t y = at / (out->w * out->c), x = at / out->c % out->w, c = at % out->c;                       \
            int32_t sum = 0, count = 0, most = INT32_MIN;                                                              \
            for (int32_t k = 0; k < window->h * window->w; ++k) {                                                      \
                const int32_t row = y * p->stride.h - p->padding.h + k / window->w;                                    \
                const int32_t column = x * p->stride.w - p->padding.w + k % window->w;                                 \
                if (row >= 0 && row < in->h && column >= 0 && column < in->w) {                                        \
                    const int32_t value = input[(row * in->w + column) * in->c + c];                                   \
                    sum += value;                                                                                      \
                    ++count;                                                                                           \
                    most = value > most ? value : most;                                                                \
                }                                                                                                      \
            }                                                                                                          \
            if (IS_AVERAGE) {                                                                                          \
                most = sum > 0 ? (sum + count / 2) / count : (sum - count / 2) / count;                                \
            }                                                                                                          \
            output[at] = (TYPE)clamped(most, &p->activation);                                                          \
        }                                                                                                              \
        return ARM_CMSIS_NN_SUCCESS;                                                                                   \
    }

POOL(arm_avgpool_s8, int8_t, 1)
POOL(arm_avgpool_s16, int16_t, 1)
POOL(arm_max_pool_s8, int8_t, 0)
POOL(arm_max_pool_s16, int16_t, 0)

#define ADD(NAME, TYPE)                                                                                                \
    arm_cmsis_nn_status NAME(                                                                                          \
        const TYPE *first, const TYPE *second, int32_t first_offset, int32_t first_multiplier, int32_t first_shift,    \
        int32_t second_offset, int32_t second_multiplier, int32_t second_shift, int32_t left_shift, TYPE *output,      \
        int32_t output_offset, int32_t output_multiplier, int32_t output_shift, int32_t low, int32_t high,             \
        int32_t size)                                                                                                  \
    {                                                                                                                  \
        const cmsis_nn_activation limits = {low, high};                                                                \
        const int is_wide = sizeof(TYPE) > 1; /* then CMSIS-NN has no offsets */                                       \
        for (int32_t i = 0; i < size; ++i) {                                                                           \
            const int32_t one = (first[i] + (is_wide ? 0 : first_offset)) * (1 << left_shift);                         \
            const int32_t other = (second[i] + (is_wide ? 0 : second_offset)) * (1 << left_shift);                     \
            const int32_t sum = requantized(one, first_multiplier, first_shift)                                        \
                + requantized(other, second_multiplier, second_shift);                                                 \
            const int32_t scaled = requantized(sum, output_multiplier, output_shift);                                  \
            output[i] = (TYPE)clamped(scaled + (is_wide ? 0 : output_offset), &limits);                                \
        }                                                                                                              \
        return ARM_CMSIS_NN_SUCCESS;                                                                                   \
    }

ADD(arm_elementwise_add_s8, int8_t)
ADD(arm_elementwise_add_s16, int16_t)

#define MUL(NAME, TYPE)                                                                                                \
    arm_cmsis_nn_status NAME(                                                                                          \
        const TYPE *first, const TYPE *second, int32_t first_offset, int32_t second_offset, TYPE *output,              \
        int32_t output_offset, int32_t multiplier, int32_t shift, int32_t low, int32_t high, int32_t size)             \
    {                                                                                                                  \
        const cmsis_nn_activation limits = {low, high};                                                                \
        for (int32_t i = 0; i < size; ++i) {                                                                           \
            const int32_t product = (first[i] + first_offset) * (second[i] + second_offset);                           \
            output[i] = (TYPE)clamped(requantized(product, multiplier, shift) + output_offset, &limits);               \
        }                                                                                                              \
        return ARM_CMSIS_NN_SUCCESS;                                                                                   \
    }

MUL(arm_elementwise_mul_s8, int8_t)
MUL(arm_elementwise_mul_s16, int16_t)

void arm_softmax_s8(
    const int8_t *input, int32_t rows, int32_t size, int32_t multiplier, int32_t shift, int32_t least, int8_t *output)
{
    const struct reference_softmax_s8_parameters p = {rows, size, multiplier, shift, -least, 1};
    reference_softmax_s8(&p, input, output);
}

void arm_softmax_s8_s16(
    const int8_t *input, int32_t rows, int32_t size, int32_t multiplier, int32_t shift, int32_t least, int16_t *output)
{
    const struct reference_softmax_s8_parameters p = {rows, size, multiplier, shift, -least, 1};
    reference_softmax_s8_s16(&p, input, output);
}

arm_cmsis_nn_status arm_softmax_s16(
    const int16_t *input, int32_t rows, int32_t size, int32_t multiplier, int32_t shift,
    const cmsis_nn_softmax_lut_s16 *tables, int16_t *output)
{
    const struct reference_softmax_s16_parameters p = {rows, size, multiplier, shift, 1};
    reference_softmax_s16(&p, input, tables->exp_lut, tables->one_by_one_lut, output);
    return ARM_CMSIS_NN_SUCCESS;
}
