#include "arithmetic.h"
#include "depthwise_conv_2d.h"
#include "pixel_products.h"
#include "sums.h"
#include "walk.h"
#include "window.h"

/* The taps of a window inside of the image: in each of `height` rows `count` of them, `pitch` inputs and `channels`
 * weights apart; the weights of one row are `line` before those of the next. */
struct usmp_window_s8 {
    int32_t height;
    int32_t count;
    int32_t pitch;
    int32_t channels;
    int32_t line;
    int32_t zero_point;
};

/* Adds the products of a window, whose inputs are at `first` in each row that is not NULL, to the sum of one filter. */
static inline void usmp_one_filter_s8(
    const struct usmp_window_s8 *window, const int8_t *const *rows, int32_t first, const int8_t *weights,
    int32_t *sum)
{
    for (int32_t y = 0; y < window->height; ++y, weights += window->line) {
        for (int32_t i = 0; rows[y] != NULL && i < window->count; ++i) {
            *sum += (rows[y][first + i * window->pitch] - window->zero_point) * weights[i * window->channels];
        }
    }
}

/* The same for four filters side by side, whose inputs are `apart` elements apart: 1, or 0 if they are over one
 * channel. */
static inline void usmp_four_filters_s8(
    const struct usmp_window_s8 *window, const int8_t *const *rows, int32_t first, const int8_t *weights,
    int32_t apart, int32_t *sums)
{
    const int32_t zero_point = window->zero_point;
    int32_t sum_a = sums[0];
    int32_t sum_b = sums[1];
    int32_t sum_c = sums[2];
    int32_t sum_d = sums[3];

    for (int32_t y = 0; y < window->height; ++y, weights += window->line) {
        for (int32_t i = 0; rows[y] != NULL && i < window->count; ++i) {
            const int8_t *const x = rows[y] + first + i * window->pitch;
            const int8_t *const w = weights + i * window->channels;
            sum_a += (x[0] - zero_point) * w[0];
            sum_b += (x[apart] - zero_point) * w[1];
            sum_c += (x[2 * apart] - zero_point) * w[2];
            sum_d += (x[3 * apart] - zero_point) * w[3];
        }
    }
    sums[0] = sum_a;
    sums[1] = sum_b;
    sums[2] = sum_c;
    sums[3] = sum_d;
}

/* Adds the products of a window to the sums of four filters, or of one. */
static inline void usmp_add_window_s8(
    const struct usmp_window_s8 *window, int32_t depth_multiplier, int32_t lanes, const int8_t *const *rows,
    int32_t first, const int8_t *weights, int32_t *sums)
{
    if (lanes == 1) {
        usmp_one_filter_s8(window, rows, first, weights, sums);
    } else if (depth_multiplier == 1) {
        usmp_four_filters_s8(window, rows, first, weights, 1, sums);
    } else {
        usmp_four_filters_s8(window, rows, first, weights, 0, sums);
    }
}

/* One output row from the input rows under the window; a row that is NULL is padding.  Bias, multiplier and shift
 * have one element for each output channel. */
void usmp_depthwise_conv_2d_s8_row(
    const struct usmp_depthwise_conv_2d_s8_parameters *p, const int8_t *const *rows, const int8_t *weights,
    const int32_t *bias, const int32_t *multiplier, const int8_t *shift, int8_t *output)
{
    const int32_t channels = p->input_channels * p->depth_multiplier;
    const int32_t fours = p->depth_multiplier == 1 || p->depth_multiplier % 4 == 0 ? channels / 4 : 0;
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk turns = usmp_walk_along(channels - 3 * fours, 1, p->direction);
    struct usmp_window_s8 window = {
        p->window_height, 0, p->dilation * p->input_pitch, channels, p->window_width * channels, p->input_zero_point};

    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        const int32_t start = x * p->stride - p->before;
        const struct usmp_taps taps = usmp_taps_inside(start, p->dilation, p->window_width, p->input_width);
        const int32_t first = (start + taps.first * p->dilation) * p->input_pitch;
        const int8_t *const filters = weights + taps.first * channels;

        window.count = taps.end - taps.first;
        for (int32_t turn = turns.first; turn != turns.end; turn += turns.step) {
            const int32_t lanes = turn < fours ? 4 : 1;
            const int32_t c = turn < fours ? 4 * turn : turn + 3 * fours;
            const int32_t channel = p->depth_multiplier == 1 ? c : c / p->depth_multiplier;
            int32_t sums[4] = {0, 0, 0, 0};

            usmp_add_window_s8(&window, p->depth_multiplier, lanes, rows, first + channel, filters + c, sums);
            usmp_finish_block_s8(
                sums, lanes, bias + c, multiplier + c, shift + c, p->low, p->high, p->output_zero_point,
                output + x * p->output_pitch + c);
        }
    }
}

/* Adds row `y` of the image. */
void usmp_depthwise_conv_2d_sums_s8_row(
    const struct usmp_depthwise_conv_2d_sums_s8_parameters *p, const int8_t *row, int32_t y, const int8_t *weights,
    usmp_i32 *sums)
{
    const int32_t channels = p->input_channels * p->depth_multiplier;
    const int32_t fours = p->depth_multiplier == 1 || p->depth_multiplier % 4 == 0 ? channels / 4 : 0;
    const int32_t window_row = usmp_window_row(y, p->above, p->dilation_down, p->window_height);
    struct usmp_window_s8 window = {1, 0, p->dilation * p->input_channels, channels, 0, p->input_zero_point};

    for (int32_t x = 0; window_row >= 0 && x < p->output_width; ++x) {
        const int32_t start = x * p->stride - p->before;
        const struct usmp_taps taps = usmp_taps_inside(start, p->dilation, p->window_width, p->input_width);
        const int32_t first = (start + taps.first * p->dilation) * p->input_channels;
        const int8_t *const filters = weights + (window_row * p->window_width + taps.first) * channels;

        window.count = taps.end - taps.first;
        if (window.count == 1 && p->depth_multiplier == 1 && fours > 0) {
            usmp_add_pixel_products_s8(row + first, filters, p->input_zero_point, channels, sums + x * channels);
            continue;
        }
        for (int32_t turn = 0; turn < channels - 3 * fours; ++turn) {
            const int32_t lanes = turn < fours ? 4 : 1;
            const int32_t c = turn < fours ? 4 * turn : turn + 3 * fours;
            const int32_t channel = p->depth_multiplier == 1 ? c : c / p->depth_multiplier;
            usmp_i32 *const results = sums + x * channels + c;
            int32_t added[4] = {0, 0, 0, 0};

            usmp_add_window_s8(&window, p->depth_multiplier, lanes, &row, first + channel, filters + c, added);
            for (int32_t i = 0; i < lanes; ++i) {
                results[i] += added[i];
            }
        }
    }
}
