#include "arithmetic.h"
#include "conv_2d.h"
#include "products.h"
#include "sums.h"
#include "walk.h"
#include "window.h"

/* One output row from the input rows under the window; a row that is NULL is padding.  Bias, multiplier and shift
 * have one element for each output channel. */
void usmp_conv_2d_s8_row(
    const struct usmp_conv_2d_s8_parameters *p, const int8_t *const *rows, const int8_t *weights,
    const int32_t *bias, const int32_t *multiplier, const int8_t *shift, int8_t *output)
{
    const int32_t line = p->window_width * p->input_channels; /* of a filter */
    const int32_t filter_size = p->window_height * line;
    const int is_dense = p->dilation == 1 && p->input_pitch == p->input_channels;
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk blocks = usmp_walk_along(p->output_channels, 4, p->direction);

    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        const int32_t start = x * p->stride - p->before;
        const struct usmp_taps taps = usmp_taps_inside(start, p->dilation, p->window_width, p->input_width);
        const int32_t run = is_dense ? taps.end - taps.first : 1; /* taps that lie side by side */
        const int32_t size = run * p->input_channels;
        const int32_t step = run * p->dilation * p->input_pitch;
        const int32_t first = (start + taps.first * p->dilation) * p->input_pitch;

        for (int32_t c = blocks.first; c != blocks.end; c += blocks.step) {
            const int32_t lanes = usmp_minimum(4, p->output_channels - c);
            int32_t filter = taps.first * p->input_channels;
            const int8_t *filters[4];
            int32_t sums[4] = {0, 0, 0, 0};

            usmp_point_at_filters(weights + c * filter_size, filter_size, lanes, filters);
            for (int32_t y = 0; y < p->window_height; ++y, filter += line) {
                int32_t input = first;
                int32_t offset = filter;

                for (int32_t tap = taps.first; rows[y] != NULL && tap < taps.end; tap += run) {
                    usmp_add_products_s8(rows[y] + input, p->input_zero_point, filters, offset, size, sums);
                    input += step;
                    offset += size;
                }
            }
            usmp_finish_block_s8(
                sums, lanes, bias + c, multiplier + c, shift + c, p->low, p->high, p->output_zero_point,
                output + x * p->output_pitch + c);
        }
    }
}
