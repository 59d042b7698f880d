#include "arithmetic.h"
#include "depthwise_conv_2d.h"
#include "sums.h"
#include "walk.h"
#include "window.h"

/* The taps of a window inside of the image: in each of `height` rows `count` of them, `pitch` inputs and `channels`
 * weights apart; the weights of one row are `line` before those of the next. */
struct usmp_window_f32 {
    int32_t height;
    int32_t count;
    int32_t pitch;
    int32_t channels;
    int32_t line;
};

/* Sums up the products of a window, whose inputs are at `first` in each row that is not NULL, of one channel. */
static inline float usmp_one_channel_f32(
    const struct usmp_window_f32 *window, const usmp_f32 *const *rows, int32_t first, const float *weights)
{
    const int32_t pitch = window->pitch;
    const int32_t channels = window->channels;
    float sum = 0.0f;

    for (int32_t y = 0; y < window->height; ++y, weights += window->line) {
        const usmp_f32 *const row = rows[y];
        const int32_t count = row != NULL ? window->count : 0;

        for (int32_t i = 0; i < count; ++i) {
            sum += row[first + i * pitch] * weights[i * channels];
        }
    }
    return sum;
}

/* The same of four channels side by side. */
static inline void usmp_four_channels_f32(
    const struct usmp_window_f32 *window, const usmp_f32 *const *rows, int32_t first, const float *weights,
    float *sums)
{
    const int32_t pitch = window->pitch;
    const int32_t channels = window->channels;
    float sum_a = 0.0f;
    float sum_b = 0.0f;
    float sum_c = 0.0f;
    float sum_d = 0.0f;

    for (int32_t y = 0; y < window->height; ++y, weights += window->line) {
        const usmp_f32 *const row = rows[y];
        const int32_t count = row != NULL ? window->count : 0;

        for (int32_t i = 0; i < count; ++i) {
            const usmp_f32 *const x = row + first + i * pitch;
            const float *const w = weights + i * channels;
            sum_a += x[0] * w[0];
            sum_b += x[1] * w[1];
            sum_c += x[2] * w[2];
            sum_d += x[3] * w[3];
        }
    }
    sums[0] = sum_a;
    sums[1] = sum_b;
    sums[2] = sum_c;
    sums[3] = sum_d;
}

/* One output row from the input rows under the window; a row that is NULL is padding.  Bias has one element for each
 * output channel. */
void usmp_depthwise_conv_2d_f32_row(
    const struct usmp_depthwise_conv_2d_f32_parameters *p, const usmp_f32 *const *rows,
    const float *weights, const float *bias, usmp_f32 *output)
{
    const int32_t channels = p->input_channels * p->depth_multiplier;
    const int32_t fours = p->depth_multiplier == 1 ? channels / 4 : 0;
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk turns = usmp_walk_along(channels - 3 * fours, 1, p->direction);
    struct usmp_window_f32 window = {
        p->window_height, 0, p->dilation * p->input_pitch, channels, p->window_width * channels};

    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        const int32_t start = x * p->stride - p->before;
        const struct usmp_taps taps = usmp_taps_inside(start, p->dilation, p->window_width, p->input_width);
        const int32_t first = (start + taps.first * p->dilation) * p->input_pitch;
        const float *const filters = weights + taps.first * channels;

        window.count = taps.end - taps.first;
        for (int32_t turn = turns.first; turn != turns.end; turn += turns.step) {
            const int32_t c = turn < fours ? 4 * turn : turn + 3 * fours;
            usmp_f32 *const results = output + x * p->output_pitch + c;

            if (turn < fours) {
                float sums[4];
                usmp_four_channels_f32(&window, rows, first + c, filters + c, sums);
                for (int32_t i = 0; i < 4; ++i) {
                    results[i] = usmp_clamp_f32(sums[i] + bias[c + i], p->low, p->high);
                }
            } else {
                const int32_t channel = first + c / p->depth_multiplier;
                const float sum = usmp_one_channel_f32(&window, rows, channel, filters + c);
                results[0] = usmp_clamp_f32(sum + bias[c], p->low, p->high);
            }
        }
    }
}

/* Clears the sums. */
void usmp_depthwise_conv_2d_sums_f32_begin(const struct usmp_depthwise_conv_2d_sums_f32_parameters *p, usmp_f32 *sums)
{
    for (int32_t i = 0; i < p->output_width * p->input_channels * p->depth_multiplier; ++i) {
        sums[i] = 0.0f;
    }
}

/* Adds row `y` of the image. */
void usmp_depthwise_conv_2d_sums_f32_row(
    const struct usmp_depthwise_conv_2d_sums_f32_parameters *p, const usmp_f32 *row, int32_t y,
    const float *weights, usmp_f32 *sums)
{
    const int32_t channels = p->input_channels * p->depth_multiplier;
    const int32_t pitch = p->dilation * p->input_channels;
    const int32_t window_row = usmp_window_row(y, p->above, p->dilation_down, p->window_height);

    for (int32_t x = 0; window_row >= 0 && x < p->output_width; ++x) {
        const int32_t start = x * p->stride - p->before;
        const struct usmp_taps taps = usmp_taps_inside(start, p->dilation, p->window_width, p->input_width);
        const float *const filter = weights + window_row * p->window_width * channels;

        for (int32_t c = 0; c < channels; ++c) {
            const int32_t from = start * p->input_channels + c / p->depth_multiplier;
            float sum = sums[x * channels + c];

            for (int32_t tap = taps.first; tap < taps.end; ++tap) {
                sum += row[from + tap * pitch] * filter[tap * channels + c];
            }
            sums[x * channels + c] = sum;
        }
    }
}

/* Makes the output row of the sums. */
void usmp_depthwise_conv_2d_sums_f32_finish(
    const struct usmp_depthwise_conv_2d_sums_f32_parameters *p, const usmp_f32 *sums, const float *bias,
    usmp_f32 *output)
{
    usmp_finish_sums_f32(
        sums, p->output_width, p->input_channels * p->depth_multiplier, bias, p->low, p->high, p->direction, output);
}
