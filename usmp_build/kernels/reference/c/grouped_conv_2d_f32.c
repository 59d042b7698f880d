/* CONV_2D of float32 in groups: the filters of a group are over the input channels of that group alone, as many of
 * each in every group.  Filters of window_height x window_width x input_channels weights, one after the other. */
#include "arithmetic.h"
#include "products.h"
#include "usmp.h"
#include "walk.h"
#include "window.h"

/* Input and output channels are those of a group.  Stride, dilation and `before`, the padding to the left, are in
 * pixels along the row.  Pitches are in elements from one pixel to the next. */
struct usmp_grouped_conv_2d_f32_parameters {
    int32_t input_width;
    int32_t input_channels;
    int32_t output_width;
    int32_t output_channels;
    int32_t groups;
    int32_t window_height;
    int32_t window_width;
    int32_t stride;
    int32_t dilation;
    int32_t before;
    float low;
    float high;
    int32_t input_pitch;
    int32_t output_pitch;
    int32_t direction; /* 1 forward, -1 backward */
};

/* One output row from the input rows under the window; a row that is NULL is padding.  Bias has one element for each
 * output channel. */
void usmp_grouped_conv_2d_f32_row(
    const struct usmp_grouped_conv_2d_f32_parameters *p, const usmp_f32 *const *rows, const float *weights,
    const float *bias, usmp_f32 *output)
{
    const int32_t filter_size = p->window_height * p->window_width * p->input_channels;
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk groups = usmp_walk_along(p->groups, 1, p->direction);
    const struct usmp_walk blocks = usmp_walk_along(p->output_channels, 4, p->direction);

    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        const int32_t start = x * p->stride - p->before;
        const struct usmp_taps taps = usmp_taps_inside(start, p->dilation, p->window_width, p->input_width);

        for (int32_t group = groups.first; group != groups.end; group += groups.step) {
            for (int32_t block = blocks.first; block != blocks.end; block += blocks.step) {
                const int32_t c = group * p->output_channels + block;
                const int32_t lanes = usmp_minimum(4, p->output_channels - block);
                usmp_f32 *const results = output + x * p->output_pitch + c;
                const float *filters[4];
                float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};

                for (int32_t i = 0; i < 4; ++i) {
                    filters[i] = weights + (c + usmp_minimum(i, lanes - 1)) * filter_size;
                }
                for (int32_t y = 0; y < p->window_height; ++y) {
                    for (int32_t tap = taps.first; rows[y] != NULL && tap < taps.end; ++tap) {
                        const int32_t pixel = (start + tap * p->dilation) * p->input_pitch;
                        const usmp_f32 *const input = rows[y] + pixel + group * p->input_channels;
                        const int32_t offset = (y * p->window_width + tap) * p->input_channels;
                        usmp_add_products_f32(input, filters, offset, p->input_channels, sums);
                    }
                }
                for (int32_t i = 0; i < lanes; ++i) {
                    results[i] = usmp_clamp_f32(sums[i] + bias[c + i], p->low, p->high);
                }
            }
        }
    }
}
