#include "arithmetic.h"
#include "depthwise_conv_2d.h"
#include "sums.h"
#include "walk.h"
#include "window.h"

/* Adds `count` taps, `pitch` inputs and `channels` weights apart, to the sum of one channel. */
static inline void usmp_one_channel_s8(
    const int8_t *input, int32_t zero_point, int32_t pitch, const int8_t *weights, int32_t channels,
    int32_t count, int32_t *sum)
{
    for (int32_t i = 0; i < count; ++i) {
        *sum += (input[i * pitch] - zero_point) * weights[i * channels];
    }
}

/* The same for four channels side by side. */
static inline void usmp_four_channels_s8(
    const int8_t *input, int32_t zero_point, int32_t pitch, const int8_t *weights, int32_t channels,
    int32_t count, int32_t *sums)
{
    int32_t sum_a = sums[0];
    int32_t sum_b = sums[1];
    int32_t sum_c = sums[2];
    int32_t sum_d = sums[3];

    for (int32_t i = 0; i < count; ++i) {
        const int8_t *const x = input + i * pitch;
        const int8_t *const w = weights + i * channels;
        sum_a += (x[0] - zero_point) * w[0];
        sum_b += (x[1] - zero_point) * w[1];
        sum_c += (x[2] - zero_point) * w[2];
        sum_d += (x[3] - zero_point) * w[3];
    }
    sums[0] = sum_a;
    sums[1] = sum_b;
    sums[2] = sum_c;
    sums[3] = sum_d;
}

/* The same for four filters over one channel. */
static inline void usmp_four_filters_s8(
    const int8_t *input, int32_t zero_point, int32_t pitch, const int8_t *weights, int32_t channels,
    int32_t count, int32_t *sums)
{
    int32_t sum_a = sums[0];
    int32_t sum_b = sums[1];
    int32_t sum_c = sums[2];
    int32_t sum_d = sums[3];

    for (int32_t i = 0; i < count; ++i) {
        const int32_t value = input[i * pitch] - zero_point;
        const int8_t *const w = weights + i * channels;
        sum_a += value * w[0];
        sum_b += value * w[1];
        sum_c += value * w[2];
        sum_d += value * w[3];
    }
    sums[0] = sum_a;
    sums[1] = sum_b;
    sums[2] = sum_c;
    sums[3] = sum_d;
}

void usmp_depthwise_conv_2d_s8_row(
    const struct usmp_depthwise_conv_2d_s8_parameters *p, const int8_t *const *rows, const int8_t *weights,
    const int32_t *bias, const int32_t *multiplier, const int8_t *shift, int8_t *output)
{
    const int32_t channels = p->input_channels * p->depth_multiplier;
    const int32_t pitch = p->dilation * p->input_pitch;
    const int32_t fours = p->depth_multiplier == 1 || p->depth_multiplier % 4 == 0 ? channels / 4 : 0;
    const int32_t zero_point = p->input_zero_point;
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk turns = usmp_walk_along(channels - 3 * fours, 1, p->direction);

    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        const int32_t start = x * p->stride - p->before;
        const struct usmp_taps taps = usmp_taps_inside(start, p->dilation, p->window_width, p->input_width);
        const int32_t count = taps.end - taps.first;

        for (int32_t turn = turns.first; turn != turns.end; turn += turns.step) {
            const int32_t lanes = turn < fours ? 4 : 1;
            const int32_t c = turn < fours ? 4 * turn : turn + 3 * fours;
            const int32_t first = (start + taps.first * p->dilation) * p->input_pitch + c / p->depth_multiplier;
            int8_t *const results = output + x * p->output_pitch + c;
            int32_t sums[4] = {0, 0, 0, 0};

            for (int32_t y = 0; y < p->window_height; ++y) {
                const int8_t *const filters = weights + (y * p->window_width + taps.first) * channels + c;
                if (rows[y] == NULL || count == 0) {
                    continue;
                }
                if (lanes == 1) {
                    usmp_one_channel_s8(rows[y] + first, zero_point, pitch, filters, channels, count, sums);
                } else if (p->depth_multiplier == 1) {
                    usmp_four_channels_s8(rows[y] + first, zero_point, pitch, filters, channels, count, sums);
                } else {
                    usmp_four_filters_s8(rows[y] + first, zero_point, pitch, filters, channels, count, sums);
                }
            }
            for (int32_t i = 0; i < lanes; ++i) {
                const int32_t sum = usmp_add(sums[i], bias[c + i]);
                const int32_t scaled = usmp_scale(sum, multiplier[c + i], shift[c + i]);
                results[i] = (int8_t)(usmp_clamp(scaled, p->low, p->high) + p->output_zero_point);
            }
        }
    }
}

void usmp_depthwise_conv_2d_sums_s8_begin(const struct usmp_depthwise_conv_2d_sums_s8_parameters *p, usmp_i32 *sums)
{
    for (int32_t i = 0; i < p->output_width * p->input_channels * p->depth_multiplier; ++i) {
        sums[i] = 0;
    }
}

void usmp_depthwise_conv_2d_sums_s8_row(
    const struct usmp_depthwise_conv_2d_sums_s8_parameters *p, const int8_t *row, int32_t y, const int8_t *weights,
    usmp_i32 *sums)
{
    const int32_t channels = p->input_channels * p->depth_multiplier;
    const int32_t pitch = p->dilation * p->input_channels;
    const int32_t fours = p->depth_multiplier == 1 || p->depth_multiplier % 4 == 0 ? channels / 4 : 0;
    const int32_t zero_point = p->input_zero_point;
    const int32_t window_row = usmp_window_row(y, p->above, p->dilation_down, p->window_height);

    for (int32_t x = 0; window_row >= 0 && x < p->output_width; ++x) {
        const int32_t start = x * p->stride - p->before;
        const struct usmp_taps taps = usmp_taps_inside(start, p->dilation, p->window_width, p->input_width);
        const int32_t count = taps.end - taps.first;
        const int32_t filter = (window_row * p->window_width + taps.first) * channels;

        for (int32_t turn = 0; turn < channels - 3 * fours; ++turn) {
            const int32_t lanes = turn < fours ? 4 : 1;
            const int32_t c = turn < fours ? 4 * turn : turn + 3 * fours;
            const int32_t first = (start + taps.first * p->dilation) * p->input_channels + c / p->depth_multiplier;
            usmp_i32 *const results = sums + x * channels + c;
            int32_t added[4] = {0, 0, 0, 0};

            if (lanes == 1) {
                usmp_one_channel_s8(row + first, zero_point, pitch, weights + filter + c, channels, count, added);
            } else if (p->depth_multiplier == 1) {
                usmp_four_channels_s8(row + first, zero_point, pitch, weights + filter + c, channels, count, added);
            } else {
                usmp_four_filters_s8(row + first, zero_point, pitch, weights + filter + c, channels, count, added);
            }
            for (int32_t i = 0; i < lanes; ++i) {
                results[i] += added[i];
            }
        }
    }
}

void usmp_depthwise_conv_2d_sums_s8_finish(
    const struct usmp_depthwise_conv_2d_sums_s8_parameters *p, const usmp_i32 *sums, const int32_t *bias,
    const int32_t *multiplier, const int8_t *shift, int8_t *output)
{
    usmp_finish_sums_s8(
        sums, p->output_width, p->input_channels * p->depth_multiplier, bias, multiplier, shift, p->low, p->high,
        p->output_zero_point, p->direction, output);
}
