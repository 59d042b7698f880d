#include "arithmetic.h"
#include "depthwise_conv_2d.h"
#include "sums.h"
#include "walk.h"
#include "window.h"

void usmp_depthwise_conv_2d_f32_row(
    const struct usmp_depthwise_conv_2d_f32_parameters *p, const usmp_f32 *const *rows,
    const float *weights, const float *bias, usmp_f32 *output)
{
    const int32_t channels = p->input_channels * p->depth_multiplier;
    const int32_t pitch = p->dilation * p->input_pitch;
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk walk = usmp_walk_along(channels, 1, p->direction);

    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        const int32_t start = x * p->stride - p->before;
        const struct usmp_taps taps = usmp_taps_inside(start, p->dilation, p->window_width, p->input_width);

        for (int32_t c = walk.first; c != walk.end; c += walk.step) {
            const int32_t from = start * p->input_pitch + c / p->depth_multiplier;
            float sum = 0.0f;

            for (int32_t y = 0; y < p->window_height; ++y) {
                const float *const filter = weights + y * p->window_width * channels + c;
                if (rows[y] == NULL) {
                    continue;
                }
                for (int32_t tap = taps.first; tap < taps.end; ++tap) {
                    sum += rows[y][from + tap * pitch] * filter[tap * channels];
                }
            }
            output[x * p->output_pitch + c] = usmp_clamp_f32(sum + bias[c], p->low, p->high);
        }
    }
}

void usmp_depthwise_conv_2d_sums_f32_begin(const struct usmp_depthwise_conv_2d_sums_f32_parameters *p, usmp_f32 *sums)
{
    for (int32_t i = 0; i < p->output_width * p->input_channels * p->depth_multiplier; ++i) {
        sums[i] = 0.0f;
    }
}

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

void usmp_depthwise_conv_2d_sums_f32_finish(
    const struct usmp_depthwise_conv_2d_sums_f32_parameters *p, const usmp_f32 *sums, const float *bias,
    usmp_f32 *output)
{
    usmp_finish_sums_f32(
        sums, p->output_width, p->input_channels * p->depth_multiplier, bias, p->low, p->high, p->direction, output);
}
