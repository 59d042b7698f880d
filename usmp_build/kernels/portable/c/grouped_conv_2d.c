/* CONV_2D in groups: the filters of a group are over the input channels of that group alone, as many of
 * each in every group.  Filters of window_height x window_width x input_channels weights, one after the other. */
#include "arithmetic.h"
#include "products.h"
#include "sums.h"
#include "usmp.h"
#include "walk.h"
#include "window.h"

/* Input and output channels are those of a group.  Stride, dilation and `before`, the padding to the left, are in
 * pixels along the row.  Low and high are the limits of the output less its zero point.  Pitches are in elements
 * from one pixel to the next. */
struct usmp_grouped_conv_2d_s8_parameters {
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
#if USMP_S8
    int32_t input_zero_point;
    int32_t output_zero_point;
#elif USMP_S16
    int32_t narrow; /* as in usmp_finished_s16 */
#endif
    usmp_number low;
    usmp_number high;
    int32_t input_pitch;
    int32_t output_pitch;
    int32_t direction; /* 1 forward, -1 backward */
};

/* One output row from the input rows under the window; a row that is NULL is padding.  Bias, and of integers
 * multiplier and shift, have one element for each output channel. */
void usmp_grouped_conv_2d_s8_row(
    const struct usmp_grouped_conv_2d_s8_parameters *p, const int8_t *const *rows, const usmp_weight *weights,
    const usmp_sum *bias,
#if USMP_S8 || USMP_S16
    const int32_t *multiplier, const usmp_shift *shift,
#endif
    int8_t *output)
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
                int8_t *const results = output + x * p->output_pitch + c;
                const usmp_weight *filters[4];
                usmp_sum sums[4] = {0, 0, 0, 0};

#if USMP_S8
                usmp_point_at_filters(weights + c * filter_size, filter_size, lanes, filters);
#else
                for (int32_t i = 0; i < 4; ++i) {
                    filters[i] = weights + (c + usmp_minimum(i, lanes - 1)) * filter_size;
                }
#endif
                for (int32_t y = 0; y < p->window_height; ++y) {
                    for (int32_t tap = taps.first; rows[y] != NULL && tap < taps.end; ++tap) {
                        const int32_t pixel = (start + tap * p->dilation) * p->input_pitch;
                        const int8_t *const input = rows[y] + pixel + group * p->input_channels;
                        const int32_t offset = (y * p->window_width + tap) * p->input_channels;
#if USMP_S8
                        usmp_add_products_s8(input, p->input_zero_point, filters, offset, p->input_channels, sums);
#else
                        usmp_add_products_s8(input, filters, offset, p->input_channels, sums);
#endif
                    }
                }
#if USMP_S8
                usmp_finish_block_s8(
                    sums, lanes, bias + c, multiplier + c, shift + c, p->low, p->high, p->output_zero_point, results);
#elif USMP_S16
                for (int32_t i = 0; i < lanes; ++i) {
                    const int64_t sum = sums[i] + bias[c + i];
                    results[i] = usmp_finished_s16(sum, p->narrow, multiplier[c + i], shift[c + i], p->low, p->high);
                }
#else
                for (int32_t i = 0; i < lanes; ++i) {
                    results[i] = usmp_clamp_f32(sums[i] + bias[c + i], p->low, p->high);
                }
#endif
            }
        }
    }
}
