/* DEPTHWISE_CONV_2D of int16 with weights of int8, and of floats. */
#include "arithmetic.h"
#include "depthwise_conv_2d.h"
#include "sums.h"
#include "usmp.h"
#include "walk.h"
#include "window.h"

/* The taps of a window inside of the image: in each of `height` rows `count` of them, `pitch` inputs and `channels`
 * weights apart; the weights of one row are `line` before those of the next. */
struct usmp_window_s16 {
    int32_t height;
    int32_t count;
    int32_t pitch;
    int32_t channels;
    int32_t line;
};

/* The sum of the products of a window, whose inputs are at `first` in each row that is not NULL, for one filter. */
static inline usmp_sum usmp_one_filter_s16(
    const struct usmp_window_s16 *window, const usmp_i16 *const *rows, int32_t first, const usmp_weight *weights)
{
    usmp_sum sum = 0;

    for (int32_t y = 0; y < window->height; ++y, weights += window->line) {
        for (int32_t i = 0; rows[y] != NULL && i < window->count; ++i) {
            sum += rows[y][first + i * window->pitch] * weights[i * window->channels];
        }
    }
    return sum;
}

/* The sums for four filters side by side, whose inputs are `apart` elements apart: 1, or 0 if they are over one
 * channel.  Those of int16 have at most 256 products. */
static inline void usmp_four_filters_s16(
    const struct usmp_window_s16 *window, const usmp_i16 *const *rows, int32_t first, const usmp_weight *weights,
    int32_t apart, usmp_sum *sums)
{
    usmp_number sum_a = 0;
    usmp_number sum_b = 0;
    usmp_number sum_c = 0;
    usmp_number sum_d = 0;

    for (int32_t y = 0; y < window->height; ++y, weights += window->line) {
        if (rows[y] != NULL) {
            const usmp_i16 *x = rows[y] + first;
            const usmp_weight *w = weights;
            for (int32_t i = window->count; i > 0; --i, x += window->pitch, w += window->channels) {
                sum_a += x[0] * w[0];
                sum_b += x[apart] * w[1];
                sum_c += x[2 * apart] * w[2];
                sum_d += x[3 * apart] * w[3];
            }
        }
    }
    sums[0] = sum_a;
    sums[1] = sum_b;
    sums[2] = sum_c;
    sums[3] = sum_d;
}

/* One output row from the input rows under the window; a row that is NULL is padding.  Bias, and of integers
 * multiplier and shift, have one element for each output channel. */
void usmp_depthwise_conv_2d_s16_row(
    const struct usmp_depthwise_conv_2d_s16_parameters *p, const usmp_i16 *const *rows, const usmp_weight *weights,
    const usmp_sum *bias,
#if USMP_S16
    const int32_t *multiplier, const usmp_shift *shift,
#endif
    usmp_i16 *output)
{
    const int32_t channels = p->input_channels * p->depth_multiplier;
#if USMP_S16
    const int is_short = p->window_height * p->window_width <= 256; /* sums of 256 products fit 32 bits */
    const int are_fours = is_short && (p->depth_multiplier == 1 || p->depth_multiplier % 4 == 0);
#else
    const int are_fours = p->depth_multiplier == 1;
#endif
    const int32_t fours = are_fours ? channels / 4 : 0;
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk turns = usmp_walk_along(channels - 3 * fours, 1, p->direction);
    struct usmp_window_s16 window = {
        p->window_height, 0, p->dilation * p->input_pitch, channels, p->window_width * channels};

    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        const int32_t start = x * p->stride - p->before;
        const struct usmp_taps taps = usmp_taps_inside(start, p->dilation, p->window_width, p->input_width);
        const int32_t first = (start + taps.first * p->dilation) * p->input_pitch;
        const usmp_weight *const filters = weights + taps.first * channels;

        window.count = taps.end - taps.first;
        for (int32_t turn = turns.first; turn != turns.end; turn += turns.step) {
            const int32_t lanes = turn < fours ? 4 : 1;
            const int32_t c = turn < fours ? 4 * turn : turn + 3 * fours;
            const int32_t channel = p->depth_multiplier == 1 ? c : c / p->depth_multiplier;
            usmp_sum sums[4];

            if (lanes == 1) {
                sums[0] = usmp_one_filter_s16(&window, rows, first + channel, filters + c);
#if USMP_S16
            } else if (p->depth_multiplier == 1) {
                usmp_four_filters_s16(&window, rows, first + channel, filters + c, 1, sums);
            } else {
                usmp_four_filters_s16(&window, rows, first + channel, filters + c, 0, sums);
            }
#else
            } else {
                usmp_four_filters_s16(&window, rows, first + channel, filters + c, 1, sums);
            }
#endif
            for (int32_t i = 0; i < lanes; ++i) {
#if USMP_S16
                output[x * p->output_pitch + c + i] = usmp_finished_s16(
                    sums[i] + bias[c + i], 0, multiplier[c + i], shift[c + i], p->low, p->high);
#else
                output[x * p->output_pitch + c + i] = usmp_clamp_f32(sums[i] + bias[c + i], p->low, p->high);
#endif
            }
        }
    }
}

/* Adds row `y` of the image. */
void usmp_depthwise_conv_2d_sums_s16_row(
    const struct usmp_depthwise_conv_2d_sums_s16_parameters *p, const usmp_i16 *row, int32_t y,
    const usmp_weight *weights, usmp_stored_sum *sums)
{
    const int32_t channels = p->input_channels * p->depth_multiplier;
    const int32_t pitch = p->dilation * p->input_channels;
    const int32_t window_row = usmp_window_row(y, p->above, p->dilation_down, p->window_height);

    for (int32_t x = 0; window_row >= 0 && x < p->output_width; ++x) {
        const int32_t start = x * p->stride - p->before;
        const struct usmp_taps taps = usmp_taps_inside(start, p->dilation, p->window_width, p->input_width);
        const usmp_weight *const filter = weights + window_row * p->window_width * channels;

        for (int32_t c = 0; c < channels; ++c) {
            const int32_t from = start * p->input_channels + c / p->depth_multiplier;
            usmp_sum sum = sums[x * channels + c];

            for (int32_t tap = taps.first; tap < taps.end; ++tap) {
                sum += row[from + tap * pitch] * filter[tap * channels + c];
            }
            sums[x * channels + c] = sum;
        }
    }
}
