/* CONV_2D whose window makes one output row, by adding up the rows of the image. */
#include "arithmetic.h"
#include "conv_2d.h"
#include "products.h"
#include "sums.h"
#include "walk.h"
#include "window.h"

/* Clears the sums. */
void usmp_conv_2d_sums_s8_begin(const struct usmp_conv_2d_sums_s8_parameters *p, usmp_stored_sum *sums)
{
    for (int32_t i = 0; i < p->output_width * p->output_channels; ++i) {
        sums[i] = 0;
    }
}

/* Adds row `y` of the image. */
void usmp_conv_2d_sums_s8_row(
    const struct usmp_conv_2d_sums_s8_parameters *p, const int8_t *row, int32_t y, const usmp_weight *weights,
    usmp_stored_sum *sums)
{
    const int32_t filter_size = p->window_height * p->window_width * p->input_channels;
#if USMP_S8
    const int32_t zero_point = p->input_zero_point;
#endif
    const int32_t window_row = usmp_window_row(y, p->above, p->dilation_down, p->window_height);

    for (int32_t x = 0; window_row >= 0 && x < p->output_width; ++x) {
        const int32_t start = x * p->stride - p->before;
        const struct usmp_taps taps = usmp_taps_inside(start, p->dilation, p->window_width, p->input_width);
        const int32_t run = p->dilation == 1 ? taps.end - taps.first : 1; /* taps that lie side by side */

        for (int32_t c = 0; c < p->output_channels; c += 4) {
            usmp_stored_sum *const results = sums + x * p->output_channels + c;
            const int32_t lanes = usmp_minimum(4, p->output_channels - c);
            const usmp_weight *filters[4];
            usmp_sum totals[4] = {0, 0, 0, 0};

#if USMP_S8
            usmp_point_at_filters(weights + c * filter_size, filter_size, lanes, filters);
#else
            for (int32_t i = 0; i < 4; ++i) {
                filters[i] = weights + (c + usmp_minimum(i, lanes - 1)) * filter_size;
            }
#endif
            for (int32_t i = 0; i < lanes; ++i) {
                totals[i] = results[i];
            }
            for (int32_t tap = taps.first; tap < taps.end; tap += run) {
                const int8_t *const input = row + (start + tap * p->dilation) * p->input_channels;
                const int32_t offset = (window_row * p->window_width + tap) * p->input_channels;
#if USMP_S8
                usmp_add_products_s8(input, zero_point, filters, offset, run * p->input_channels, totals);
#else
                usmp_add_products_s8(input, filters, offset, run * p->input_channels, totals);
#endif
            }
            for (int32_t i = 0; i < lanes; ++i) {
                results[i] = totals[i];
            }
        }
    }
}

/* Makes the output row of the sums. */
void usmp_conv_2d_sums_s8_finish(
    const struct usmp_conv_2d_sums_s8_parameters *p, const usmp_stored_sum *sums, const usmp_sum *bias,
#if USMP_S8 || USMP_S16
    const int32_t *multiplier, const usmp_shift *shift,
#endif
    int8_t *output)
{
#if USMP_S8
    usmp_finish_sums_s8(
        sums, p->output_width, p->output_channels, bias, multiplier, shift, p->low, p->high, p->output_zero_point,
        p->direction, output);
#elif USMP_S16
    usmp_finish_sums_s16(
        sums, p->output_width, p->output_channels, bias, p->narrow, multiplier, shift,
        p->low, p->high, p->direction, output);
#else
    usmp_finish_sums_f32(
        sums, p->output_width, p->output_channels, bias, p->low, p->high, p->direction, output);
#endif
}
