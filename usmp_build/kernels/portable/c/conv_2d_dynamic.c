/* CONV_2D of float32 with weights of int8: an image is quantized, then integers are added up.  Filters of
 * window_height x window_width weights for each input channel of their group, one after the other. */
#include "arithmetic.h"
#include "dynamic_range.h"
#include "products.h"
#include "usmp.h"
#include "walk.h"
#include "window.h"

/* Input and output channels are shared out among groups, which are convolved apart.
 * Strides, dilations and paddings, above the image and before it, are in pixels.  scale_step is 1 where the weights of
 * each output channel have a scale of their own, else 0. */
struct usmp_conv_2d_dynamic_parameters {
    int32_t images;
    int32_t input_height;
    int32_t input_width;
    int32_t input_channels;
    int32_t output_height;
    int32_t output_width;
    int32_t output_channels;
    int32_t groups;
    int32_t window_height;
    int32_t window_width;
    int32_t stride_down;
    int32_t stride;
    int32_t dilation_down;
    int32_t dilation;
    int32_t above;
    int32_t before;
    int32_t symmetric;
    int32_t scale_step;
    float low;
    float high;
    int32_t direction; /* 1 forward, -1 backward */
};

/* Bias has one element for each output channel; `quantized` holds an image. */
void usmp_conv_2d_dynamic(
    const struct usmp_conv_2d_dynamic_parameters *p, const usmp_f32 *input, const int8_t *weights, const float *bias,
    const float *scale, int8_t *quantized, usmp_f32 *output)
{
    const int32_t channels = p->input_channels / p->groups;
    const int32_t each = p->output_channels / p->groups;
    const int32_t filter_size = p->window_height * p->window_width * channels;
    const int32_t image_size = p->input_height * p->input_width * p->input_channels;
    const struct usmp_walk images = usmp_walk_along(p->images, 1, p->direction);
    const struct usmp_walk rows = usmp_walk_along(p->output_height, 1, p->direction);
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk groups = usmp_walk_along(p->groups, 1, p->direction);
    const struct usmp_walk blocks = usmp_walk_along(each, 4, p->direction);

    for (int32_t image = images.first; image != images.end; image += images.step) {
        const struct usmp_dynamic_range range =
            usmp_quantize_dynamically(input + image * image_size, image_size, p->symmetric, quantized);

        for (int32_t y = rows.first; y != rows.end; y += rows.step) {
            const int32_t top = y * p->stride_down - p->above;
            const struct usmp_taps down =
                usmp_taps_inside(top, p->dilation_down, p->window_height, p->input_height);

            for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
                const int32_t left = x * p->stride - p->before;
                const struct usmp_taps across =
                    usmp_taps_inside(left, p->dilation, p->window_width, p->input_width);
                usmp_f32 *const pixel =
                    output + ((image * p->output_height + y) * p->output_width + x) * p->output_channels;

                for (int32_t group = groups.first; group != groups.end; group += groups.step) {
                    for (int32_t block = blocks.first; block != blocks.end; block += blocks.step) {
                        const int32_t lanes = usmp_minimum(4, each - block);
                        const int32_t c = group * each + block;
                        const int8_t *filters[4];
                        int32_t sums[4] = {0, 0, 0, 0};

                        usmp_point_at_filters(weights + c * filter_size, filter_size, lanes, filters);
                        for (int32_t i = down.first; i < down.end; ++i) {
                            const int32_t line = (top + i * p->dilation_down) * p->input_width + left;

                            for (int32_t j = across.first; j < across.end; ++j) {
                                const int8_t *const values =
                                    quantized + (line + j * p->dilation) * p->input_channels + group * channels;
                                const int32_t offset = (i * p->window_width + j) * channels;
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
}
