/* A stand-in for an accelerator: the functions that "meter_kernels.h" declares, in plain C.
 *
 * A driver would hand the same arguments to its device, start it and wait for it.  The arithmetic is that of TensorFlow
 * Lite Micro, bit for bit: real = scale * (q - zero_point), with a scale for each channel of the filter. */
#include <assert.h>
#include <string.h>

#include "meter_kernels.h"
#include "npu.h"

enum { CHANNELS = 32 };       /* so many factors fit into the scratch that usmp.toml gives */
enum { SAME = 0 };            /* padding */
enum { RELU = 1, RELU6 = 3 }; /* activations */

static struct npu_counts counts;

struct npu_counts npu_take_counts(void)
{
    const struct npu_counts taken = counts;

    counts.layers = 0;
    counts.copies = 0;
    return taken;
}

/* The accelerator's memory is filled and read by DMA; here it is ordinary memory. */
void meter_npu_copy(const struct meter_npu_copy_parameters *p, const void *source, void *destination)
{
    memcpy(destination, source, (size_t)p->size);
    ++counts.copies;
}

/* From a sum of products to a step of the output: multiplier * 2^(shift - 31), for each channel. */
struct factors {
    usmp_i32 *multiplier;
    usmp_i32 *shift;
};

static void set_factor(struct factors factors, int32_t channel, double real)
{
    int32_t shift = 0;
    int64_t multiplier;

    for (; real >= 1.0; real /= 2.0) {
        ++shift;
    }
    for (; real < 0.5; real *= 2.0) {
        --shift;
    }
    multiplier = (int64_t)(real * 2147483648.0 + 0.5);
    if (multiplier == (int64_t)1 << 31) {
        multiplier /= 2;
        ++shift;
    }
    factors.multiplier[channel] = shift < -31 ? 0 : (int32_t)multiplier;
    factors.shift[channel] = shift < -31 ? 0 : shift;
}

static struct factors make_factors(uint8_t *scratch, const usmp_f32 *filter_scales, int32_t channels, float input_scale,
                                   float output_scale)
{
    struct factors factors;

    assert(channels <= CHANNELS);
    factors.multiplier = (usmp_i32 *)(void *)scratch;
    factors.shift = factors.multiplier + channels;
    for (int32_t c = 0; c < channels; ++c) {
        set_factor(factors, c, (double)input_scale * (double)filter_scales[c] / (double)output_scale);
    }
    return factors;
}

/* Rounds twice: behind 31 bits with halves upwards, then behind the rest with halves away from zero. */
static int32_t scale(struct factors factors, int32_t channel, int32_t sum)
{
    const int32_t shift = factors.shift[channel];
    const int32_t left = shift > 0 ? shift : 0;
    const int32_t right = shift > 0 ? 0 : -shift;
    const int64_t product = (int64_t)(int32_t)((uint32_t)sum << left) * factors.multiplier[channel];
    const int64_t nudge = product >= 0 ? (int64_t)1 << 30 : 1 - ((int64_t)1 << 30);
    const int64_t high = (product + nudge) / ((int64_t)1 << 31);
    const int64_t half = right > 0 ? (int64_t)1 << (right - 1) : 0;

    return (int32_t)((high + (high < 0 ? -half : half)) / ((int64_t)1 << right));
}

static int8_t to_output(int32_t value, struct usmp_quantization output, int32_t activation)
{
    const int32_t zero = output.zero_point;
    const int32_t six = zero + (int32_t)((double)(6.0f / output.scale) + 0.5);
    const int32_t low = (activation == RELU || activation == RELU6) && zero > -128 ? zero : -128;
    const int32_t high = activation == RELU6 && six < 127 ? six : 127;

    value += zero;
    return (int8_t)(value < low ? low : value > high ? high : value);
}

/* How a filter moves over images. */
struct window {
    struct usmp_shape input, filter, output;
    int32_t stride_h, stride_w, dilation_h, dilation_w;
    int32_t top, left; /* padding */
};

/* Rows or columns of padding in front of an image. */
static int32_t padding_before(int32_t padding, int32_t input, int32_t filter, int32_t output, int32_t stride,
                              int32_t dilation)
{
    const int32_t missing = (output - 1) * stride + (filter - 1) * dilation + 1 - input;

    return padding == SAME && missing > 0 ? missing / 2 : 0;
}

static void pad(struct window *w, int32_t padding)
{
    w->top = padding_before(padding, w->input.dims[1], w->filter.dims[1], w->output.dims[1], w->stride_h, w->dilation_h);
    w->left = padding_before(padding, w->input.dims[2], w->filter.dims[2], w->output.dims[2], w->stride_w, w->dilation_w);
}

/* The pixel of the input under point k of the filter when it makes a pixel of the output; -1 in the padding. */
static int32_t under(const struct window *w, int32_t pixel, int32_t k)
{
    const int32_t height = w->input.dims[1], width = w->input.dims[2];
    const int32_t row = pixel / w->output.dims[2], column = pixel % w->output.dims[2];
    const int32_t image = row / w->output.dims[1];
    const int32_t y = row % w->output.dims[1] * w->stride_h - w->top + k / w->filter.dims[2] * w->dilation_h;
    const int32_t x = column * w->stride_w - w->left + k % w->filter.dims[2] * w->dilation_w;

    return y >= 0 && y < height && x >= 0 && x < width ? (image * height + y) * width + x : -1;
}

void meter_npu_conv_2d_s8(const struct meter_npu_conv_2d_s8_parameters *p, const int8_t *input, const int8_t *filter,
                          const usmp_i32 *bias, const usmp_f32 *filter_scales, int8_t *output, uint8_t *scratch)
{
    struct window w = { p->input, p->filter, p->output, p->stride_h, p->stride_w, p->dilation_h, p->dilation_w, 0, 0 };
    const int32_t pixels = p->output.dims[0] * p->output.dims[1] * p->output.dims[2];
    const int32_t points = p->filter.dims[1] * p->filter.dims[2];
    const int32_t channels = p->output.dims[3], depth = p->input.dims[3];
    const struct factors factors =
        make_factors(scratch, filter_scales, channels, p->input_quantization.scale, p->output_quantization.scale);

    pad(&w, p->padding);
    for (int32_t i = 0; i < pixels * channels; ++i) {
        const int32_t pixel = i / channels, c = i % channels;
        int32_t sum = bias != NULL ? bias[c] : 0;

        for (int32_t k = 0; k < points; ++k) {
            const int32_t at = under(&w, pixel, k);

            for (int32_t d = 0; at >= 0 && d < depth; ++d) {
                const int32_t value = input[at * depth + d] - p->input_quantization.zero_point;
                sum += value * filter[(c * points + k) * depth + d];
            }
        }
        output[i] = to_output(scale(factors, c, sum), p->output_quantization, p->activation);
    }
    ++counts.layers;
}

void meter_npu_depthwise_conv_2d_s8(const struct meter_npu_depthwise_conv_2d_s8_parameters *p, const int8_t *input,
                                    const int8_t *filter, const usmp_i32 *bias, const usmp_f32 *filter_scales,
                                    int8_t *output, uint8_t *scratch)
{
    struct window w = { p->input, p->filter, p->output, p->stride_h, p->stride_w, p->dilation_h, p->dilation_w, 0, 0 };
    const int32_t pixels = p->output.dims[0] * p->output.dims[1] * p->output.dims[2];
    const int32_t points = p->filter.dims[1] * p->filter.dims[2];
    const int32_t channels = p->output.dims[3], depth = p->input.dims[3];
    const struct factors factors =
        make_factors(scratch, filter_scales, channels, p->input_quantization.scale, p->output_quantization.scale);

    pad(&w, p->padding);
    for (int32_t i = 0; i < pixels * channels; ++i) {
        const int32_t pixel = i / channels, c = i % channels;
        int32_t sum = bias != NULL ? bias[c] : 0;

        for (int32_t k = 0; k < points; ++k) {
            const int32_t at = under(&w, pixel, k);

            if (at >= 0) {
                const int32_t value = input[at * depth + c / p->depth_multiplier] - p->input_quantization.zero_point;
                sum += value * filter[k * channels + c];
            }
        }
        output[i] = to_output(scale(factors, c, sum), p->output_quantization, p->activation);
    }
    ++counts.layers;
}
