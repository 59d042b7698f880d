/* DEPTHWISE_CONV_2D of int16 with weights of int8: every input channel has `depth_multiplier` filters of its own,
 * whose outputs lie side by side.  Weights are window_height x window_width x output channels. */
#include "arithmetic.h"
#include "depthwise_conv_2d.h"
#include "sums.h"
#include "usmp.h"
#include "walk.h"
#include "window.h"

/* For a window that makes one output row: `dilation_down` and `above`, the padding above it, are in rows. */
struct usmp_depthwise_conv_2d_sums_s16_parameters {
    int32_t input_width;
    int32_t input_channels;
    int32_t output_width;
    int32_t depth_multiplier;
    int32_t window_height;
    int32_t window_width;
    int32_t stride;
    int32_t dilation;
    int32_t before;
    int32_t dilation_down;
    int32_t above;
    int32_t low;
    int32_t high;
    int32_t direction; /* 1 forward, -1 backward */
};

/* One output row from the input rows under the window; a row that is NULL is padding.  Bias, multiplier and shift
 * have one element for each output channel. */
void usmp_depthwise_conv_2d_s16_row(
    const struct usmp_depthwise_conv_2d_s16_parameters *p, const usmp_i16 *const *rows, const int8_t *weights,
    const int64_t *bias, const int32_t *multiplier, const int8_t *shift, usmp_i16 *output);

/* Clears the sums. */
void usmp_depthwise_conv_2d_sums_s16_begin(const struct usmp_depthwise_conv_2d_sums_s16_parameters *p, usmp_i64 *sums);

/* Adds row `y` of the image. */
void usmp_depthwise_conv_2d_sums_s16_row(
    const struct usmp_depthwise_conv_2d_sums_s16_parameters *p, const usmp_i16 *row, int32_t y, const int8_t *weights,
    usmp_i64 *sums);

/* Makes the output row of the sums. */
void usmp_depthwise_conv_2d_sums_s16_finish(
    const struct usmp_depthwise_conv_2d_sums_s16_parameters *p, const usmp_i64 *sums, const int64_t *bias,
    const int32_t *multiplier, const int8_t *shift, usmp_i16 *output);

void usmp_depthwise_conv_2d_s16_row(
    const struct usmp_depthwise_conv_2d_s16_parameters *p, const usmp_i16 *const *rows, const int8_t *weights,
    const int64_t *bias, const int32_t *multiplier, const int8_t *shift, usmp_i16 *output)
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
            int64_t sum = 0;

            for (int32_t y = 0; y < p->window_height; ++y) {
                const int8_t *const filter = weights + y * p->window_width * channels + c;
                if (rows[y] == NULL) {
                    continue;
                }
                for (int32_t tap = taps.first; tap < taps.end; ++tap) {
                    sum += rows[y][from + tap * pitch] * filter[tap * channels];
                }
            }
            output[x * p->output_pitch + c] =
                usmp_finished_s16(sum + bias[c], 0, multiplier[c], shift[c], p->low, p->high);
        }
    }
}

void usmp_depthwise_conv_2d_sums_s16_begin(const struct usmp_depthwise_conv_2d_sums_s16_parameters *p, usmp_i64 *sums)
{
    for (int32_t i = 0; i < p->output_width * p->input_channels * p->depth_multiplier; ++i) {
        sums[i] = 0;
    }
}

void usmp_depthwise_conv_2d_sums_s16_row(
    const struct usmp_depthwise_conv_2d_sums_s16_parameters *p, const usmp_i16 *row, int32_t y, const int8_t *weights,
    usmp_i64 *sums)
{
    const int32_t channels = p->input_channels * p->depth_multiplier;
    const int32_t pitch = p->dilation * p->input_channels;
    const int32_t window_row = usmp_window_row(y, p->above, p->dilation_down, p->window_height);

    for (int32_t x = 0; window_row >= 0 && x < p->output_width; ++x) {
        const int32_t start = x * p->stride - p->before;
        const struct usmp_taps taps = usmp_taps_inside(start, p->dilation, p->window_width, p->input_width);
        const int8_t *const filter = weights + window_row * p->window_width * channels;

        for (int32_t c = 0; c < channels; ++c) {
            const int32_t from = start * p->input_channels + c / p->depth_multiplier;
            int64_t sum = sums[x * channels + c];

            for (int32_t tap = taps.first; tap < taps.end; ++tap) {
                sum += row[from + tap * pitch] * filter[tap * channels + c];
            }
            sums[x * channels + c] = sum;
        }
    }
}

void usmp_depthwise_conv_2d_sums_s16_finish(
    const struct usmp_depthwise_conv_2d_sums_s16_parameters *p, const usmp_i64 *sums, const int64_t *bias,
    const int32_t *multiplier, const int8_t *shift, usmp_i16 *output)
{
    usmp_finish_sums_s16(
        sums, p->output_width, p->input_channels * p->depth_multiplier, bias, 0, multiplier, shift,
        p->low, p->high, p->direction, output);
}
