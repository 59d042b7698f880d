/* CONV_2D of int16 and of floats. */
#include "arithmetic.h"
#include "conv_2d.h"
#include "products.h"
#include "sums.h"
#include "walk.h"
#include "window.h"

/* One output row from the input rows under the window; a row that is NULL is padding.  Bias, and of integers
 * multiplier and shift, have one element for each output channel. */
void usmp_conv_2d_s16_row(
    const struct usmp_conv_2d_s16_parameters *p, const usmp_i16 *const *rows, const usmp_weight *weights,
    const usmp_sum *bias,
#if USMP_S16
    const int32_t *multiplier, const usmp_shift *shift,
#endif
    usmp_i16 *output)
{
    const int32_t filter_size = p->window_height * p->window_width * p->input_channels;
    const int is_dense = p->dilation == 1 && p->input_pitch == p->input_channels;
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk blocks = usmp_walk_along(p->output_channels, 4, p->direction);

    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        const int32_t start = x * p->stride - p->before;
        const struct usmp_taps taps = usmp_taps_inside(start, p->dilation, p->window_width, p->input_width);
        const int32_t run = is_dense ? taps.end - taps.first : 1; /* taps that lie side by side */

        for (int32_t c = blocks.first; c != blocks.end; c += blocks.step) {
            usmp_i16 *const results = output + x * p->output_pitch + c;
            const int32_t lanes = usmp_minimum(4, p->output_channels - c);
            const usmp_weight *filters[4];
            usmp_sum sums[4] = {0, 0, 0, 0};

            for (int32_t i = 0; i < 4; ++i) {
                filters[i] = weights + (c + usmp_minimum(i, lanes - 1)) * filter_size;
            }
            for (int32_t y = 0; y < p->window_height; ++y) {
                const usmp_i16 *const row = rows[y];

                if (row == NULL) {
                    continue;
                }
                for (int32_t tap = taps.first; tap < taps.end; tap += run) {
                    const usmp_i16 *const input = row + (start + tap * p->dilation) * p->input_pitch;
                    const int32_t offset = (y * p->window_width + tap) * p->input_channels;
                    usmp_add_products_s16(input, filters, offset, run * p->input_channels, sums);
                }
            }
            for (int32_t i = 0; i < lanes; ++i) {
#if USMP_S16
                const int64_t sum = sums[i] + bias[c + i];
                results[i] = usmp_finished_s16(sum, p->narrow, multiplier[c + i], shift[c + i], p->low, p->high);
#else
                results[i] = usmp_clamp_f32(sums[i] + bias[c + i], p->low, p->high);
#endif
            }
        }
    }
}
