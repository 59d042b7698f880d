/* DEPTHWISE_CONV_2D with Arm's DSP extension. */
#include "arithmetic.h"
#include "channels_dsp.h"
#include "depthwise_conv_2d.h"
#include "taps.h"
#include "walk.h"
#include "window.h"

/* Says that pixels have `channels` channels, at least four, all in blocks of four. */
static inline void usmp_set_fours_s8_dsp(
    struct usmp_depthwise_s8_dsp *blocks, const struct usmp_depthwise_conv_2d_s8_parameters *p, const int32_t *packed,
    int32_t channels)
{
    const int32_t block = usmp_words_of_four_s8_dsp(blocks->count);
    const int32_t first = p->direction < 0 ? channels / 4 - 1 : 0;
    const int32_t passed = p->direction < 0 ? -1 : channels / 4;

    blocks->packed = packed + first * block;
    blocks->end = (uintptr_t)packed + 4 * (uintptr_t)block * (uintptr_t)(intptr_t)passed;
    blocks->back = p->direction < 0 ? -8 * block : 0;
    blocks->step = 4 * p->direction;
    blocks->first = 4 * first;
    blocks->offset_step = p->direction * (p->stride * p->input_pitch - channels);
    blocks->output_step = p->direction * (p->output_pitch - channels);
}

/* Makes these channels of `pixels` pixels in a row; `offset` is from the taps to the first one. */
static inline void usmp_make_fours_s8_dsp(
    struct usmp_depthwise_s8_dsp *blocks, int32_t pixels, int32_t offset, int8_t *output)
{
    blocks->pixels = pixels;
    blocks->offset = offset + blocks->first;
    blocks->output = output + blocks->first;
    usmp_depthwise_blocks_s8_dsp(blocks);
}

/* Makes `channels` channels of a pixel; `offset` is from the taps to it. */
static inline void usmp_depthwise_pixel_s8_dsp(
    struct usmp_depthwise_s8_dsp *pixel, const struct usmp_depthwise_conv_2d_s8_parameters *p, const int32_t *packed,
    int32_t channels, int32_t offset, int8_t *output)
{
    const int32_t fours = channels / 4;
    const struct usmp_walk turns = usmp_walk_along(channels - 4 * fours + 1, 1, p->direction);

    for (int32_t turn = turns.first; turn != turns.end; turn += turns.step) {
        if (turn > 0) {
            const int32_t c = 4 * fours + turn - 1;
            const int32_t *const alone = packed + fours * usmp_words_of_four_s8_dsp(pixel->count)
                + (turn - 1) * usmp_words_of_one_s8_dsp(pixel->count);
            output[c] = usmp_depthwise_channel_s8_dsp(pixel, alone, offset + c);
        } else if (fours > 0) {
            usmp_set_fours_s8_dsp(pixel, p, packed, 4 * fours);
            usmp_make_fours_s8_dsp(pixel, 1, offset, output);
        }
    }
}

static inline void usmp_set_window_s8_dsp(
    struct usmp_depthwise_s8_dsp *pixel, const struct usmp_depthwise_conv_2d_s8_parameters *p)
{
    const int32_t count = p->window_height * p->window_width;
    const int32_t pairs = count / 2;

    pixel->count = count;
    pixel->is_odd = count % 2;
    pixel->loops = (pairs + 3) / 4;
    pixel->skip = pairs == 0 ? 80 * 4 + 8 : 80 * (4 * pixel->loops - pairs);
    usmp_set_limits_s8_dsp(pixel, p);
}

/* One output row with one filter for each channel and a window of at most 64 pixels, from the input rows under it; a
 * row that is NULL is padding.  `zeros` is a pixel of the input's zero point. */
void usmp_depthwise_conv_2d_s8_dsp_row(
    const struct usmp_depthwise_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed,
    const int8_t *zeros, int8_t *output)
{
    const int32_t height = p->window_height;
    const int32_t width = p->window_width;
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_taps inside = usmp_positions_inside_s8(
        rows, height, (width - 1) * p->dilation + 1, p->stride, p->before, p->input_width, p->output_width);
    const int32_t input_step = p->direction * p->stride * p->input_pitch;
    const int8_t *taps[64];
    struct usmp_depthwise_s8_dsp pixel;
    int32_t count = 1;

    usmp_set_window_s8_dsp(&pixel, p);
    usmp_set_fours_s8_dsp(&pixel, p, packed, p->input_channels);
    pixel.taps = taps;
    for (int32_t x = pixels.first; x != pixels.end; x += count * pixels.step) {
        const int32_t start = x * p->stride - p->before;

        count = x >= inside.first && x < inside.end ? inside.end - inside.first : 1;
        usmp_find_taps_s8(rows, zeros, height, width, start, p->dilation, p->input_width, p->input_pitch, 1, taps);
        if (p->input_channels % 4 == 0) {
            usmp_make_fours_s8_dsp(&pixel, count, 0, output + x * p->output_pitch);
            continue;
        }
        for (int32_t i = 0; i < count; ++i) {
            int8_t *const to = output + (x + i * pixels.step) * p->output_pitch;
            usmp_depthwise_pixel_s8_dsp(&pixel, p, packed, p->input_channels, i * input_step, to);
        }
    }
}

/* The same with up to 32 filters for each channel; of int16, a window has at most 32 pixels. */
void usmp_depthwise_conv_2d_repeated_s8_dsp_row(
    const struct usmp_depthwise_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed,
    const int8_t *zeros, int8_t *output)
{
    const int32_t count = p->window_height * p->window_width;
    const int32_t channels = p->input_channels * p->depth_multiplier;
    const int32_t most = 256 / (int32_t)sizeof(int8_t) / count / 4 * 4; /* outputs whose inputs fit `repeated` */
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk parts = usmp_walk_along((channels + most - 1) / most, 1, p->direction);
    const int8_t *taps[64];
    const int8_t *copies[64];
    int8_t repeated[256 / sizeof(int8_t) + 31];
    struct usmp_depthwise_s8_dsp pixel;

    usmp_set_window_s8_dsp(&pixel, p);
    pixel.taps = copies;
    for (int32_t tap = 0; tap < count; ++tap) {
        copies[tap] = repeated + tap * most;
    }
    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        usmp_find_taps_s8(
            rows, zeros, p->window_height, p->window_width, x * p->stride - p->before, p->dilation, p->input_width,
            p->input_pitch, 1, taps);
        for (int32_t part = parts.first; part != parts.end; part += parts.step) {
            const int32_t first = part * most;
            const int32_t size = usmp_minimum(most, channels - first);

            for (int32_t tap = 0; tap < count; ++tap) {
                usmp_repeat_channels_s8_dsp(taps[tap], p->depth_multiplier, first, size, repeated + tap * most);
            }
            usmp_depthwise_pixel_s8_dsp(
                &pixel, p, packed + first / 4 * usmp_words_of_four_s8_dsp(count), size, 0, output + x * p->output_pitch + first);
        }
    }
}
