/* TRANSPOSE_CONV: each output adds up all inputs that reach it, in their order.
 * Filters of window_height x window_width x input_channels weights, one after the other. */
#include "arithmetic.h"
#include "products.h"
#include "sums.h"
#include "transpose_conv.h"
#include "usmp.h"
#include "walk.h"
#include "window.h"

/* Output row `y` from the input rows that may reach it, as many as strides fit into a window, begun or whole; a row that
 * is NULL is outside of the image.  Bias, and of integers multiplier and shift, have one element for each output
 * channel. */
void usmp_transpose_conv_s8_row(
    const struct usmp_transpose_conv_s8_parameters *p, const int8_t *const *rows, int32_t y,
    const usmp_weight *weights, const usmp_sum *bias,
#if USMP_S8 || USMP_S16
    const int32_t *multiplier, const usmp_shift *shift,
#endif
    int8_t *output)
{
    const int32_t channels = p->input_channels;
    const int32_t filter_size = p->window_height * p->window_width * channels;
    const int32_t last = (p->window_height - 1) / p->stride_down;
    const int32_t first_line = (y + p->above) % p->stride_down + last * p->stride_down; /* of the filter, for row 0 */
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk blocks = usmp_walk_along(p->output_channels, 4, p->direction);

    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        const int32_t left = x + p->before;
        const struct usmp_taps across = usmp_inputs_reaching(left, p->stride, p->window_width, p->input_width);

        for (int32_t c = blocks.first; c != blocks.end; c += blocks.step) {
            int8_t *const results = output + x * p->output_pitch + c;
            const int32_t lanes = usmp_minimum(4, p->output_channels - c);
            const usmp_weight *filters[4];
            usmp_sum sums[4] = {0, 0, 0, 0};

#if USMP_S8
            usmp_point_at_filters(weights + c * filter_size, filter_size, lanes, filters);
#else
            for (int32_t i = 0; i < 4; ++i) {
                filters[i] = weights + (c + usmp_minimum(i, lanes - 1)) * filter_size;
            }
#endif
            for (int32_t k = 0; k <= last; ++k) {
                const int32_t line = first_line - k * p->stride_down;
                const int is_reached = rows[k] != NULL && line < p->window_height;

                for (int32_t i = across.first; is_reached && i < across.end; ++i) {
                    const int32_t offset = (line * p->window_width + left - i * p->stride) * channels;
                    const int8_t *const pixel = rows[k] + i * p->input_pitch;
#if USMP_S8
                    usmp_add_products_s8(pixel, p->input_zero_point, filters, offset, channels, sums);
#else
                    usmp_add_products_s8(pixel, filters, offset, channels, sums);
#endif
                }
            }
#if USMP_S8
            usmp_finish_block_s8(
                sums, lanes, bias + c, multiplier + c, shift + c, p->low, p->high, p->output_zero_point, results);
#elif USMP_S16
            for (int32_t i = 0; i < lanes; ++i) {
                const int64_t sum = sums[i] + bias[c + i];
                results[i] = usmp_finished_s16(sum, 0, multiplier[c + i], shift[c + i], p->low, p->high);
            }
#else
            for (int32_t i = 0; i < lanes; ++i) {
                results[i] = usmp_clamp_f32(sums[i] + bias[c + i], p->low, p->high);
            }
#endif
        }
    }
}
