/* TRANSPOSE_CONV of float32 with weights of int8: an image is quantized, then each output adds up all inputs that reach
 * it.  Filters of window_height x window_width x input_channels weights, one after the other. */
#include "arithmetic.h"
#include "dynamic_range.h"
#include "products.h"
#include "usmp.h"
#include "walk.h"
#include "window.h"

/* An input reaches a window of outputs: that of input 0 begins `above` rows and `before` pixels before the first
 * output, the next ones `stride_down` rows and `stride` pixels later.  scale_step is 1 where the weights of each output
 * channel have a scale of their own, else 0. */
struct usmp_transpose_conv_dynamic_parameters {
    int32_t images;
    int32_t input_height;
    int32_t input_width;
    int32_t input_channels;
    int32_t output_height;
    int32_t output_width;
    int32_t output_channels;
    int32_t window_height;
    int32_t window_width;
    int32_t stride_down;
    int32_t stride;
    int32_t above;
    int32_t before;
    int32_t symmetric;
    int32_t scale_step;
    float low;
    float high;
    int32_t direction; /* 1 forward, -1 backward */
};

/* Bias has one element for each output channel; `quantized` holds an image. */
void usmp_transpose_conv_dynamic(
    const struct usmp_transpose_conv_dynamic_parameters *p, const usmp_f32 *input, const int8_t *weights,
    const float *bias, const float *scale, int8_t *quantized, usmp_f32 *output)
{
    const int32_t channels = p->input_channels;
    const int32_t filter_size = p->window_height * p->window_width * channels;
    const int32_t image_size = p->input_height * p->input_width * channels;
    const struct usmp_walk images = usmp_walk_along(p->images, 1, p->direction);
    const struct usmp_walk rows = usmp_walk_along(p->output_height, 1, p->direction);
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk blocks = usmp_walk_along(p->output_channels, 4, p->direction);

    for (int32_t image = images.first; image != images.end; image += images.step) {
        const struct usmp_dynamic_range range =
            usmp_quantize_dynamically(input + image * image_size, image_size, p->symmetric, quantized);

        for (int32_t row = rows.first; row != rows.end; row += rows.step) {
            const int32_t top = row + p->above;
            const struct usmp_taps down = usmp_inputs_reaching(top, p->stride_down, p->window_height, p->input_height);

            for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
                const int32_t left = x + p->before;
                const struct usmp_taps across = usmp_inputs_reaching(left, p->stride, p->window_width, p->input_width);
                usmp_f32 *const pixel =
                    output + ((image * p->output_height + row) * p->output_width + x) * p->output_channels;

                for (int32_t c = blocks.first; c != blocks.end; c += blocks.step) {
                    const int32_t lanes = usmp_minimum(4, p->output_channels - c);
                    const int8_t *filters[4];
                    int32_t sums[4] = {0, 0, 0, 0};

                    usmp_point_at_filters(weights + c * filter_size, filter_size, lanes, filters);
                    for (int32_t y = down.first; y < down.end; ++y) {
                        const int32_t line = (top - y * p->stride_down) * p->window_width; /* of the filter */

                        for (int32_t i = across.first; i < across.end; ++i) {
                            const int32_t offset = (line + left - i * p->stride) * channels;
                            const int8_t *const values = quantized + (y * p->input_width + i) * channels;
                            usmp_add_products_s8(values, range.zero_point, filters, offset, channels, sums);
                        }
                    }
                    for (int32_t i = 0; i < lanes; ++i) {
                        const float real = (float)sums[i] * (range.scale * scale[(c + i) * p->scale_step]);
                        pixel[c + i] = usmp_clamp_f32(real + bias[c + i], p->low, p->high);
                    }
                }
            }
        }
    }
}
