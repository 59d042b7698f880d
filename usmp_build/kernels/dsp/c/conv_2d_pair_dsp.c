#include "conv_2d_dsp.h"
#include "dot_pair_dsp.h"
#include "taps.h"
#include "walk.h"
#include "window.h"

/* usmp_conv_2d_1x1_s8_dsp_row and usmp_conv_2d_s8_dsp_row for one output or two; `packed` is laid out as dot_pair_dsp.h
 * says. */
void usmp_conv_2d_1x1_pair_s8_dsp_row(
    const struct usmp_conv_2d_s8_dsp_parameters *p, const int8_t *const *rows, const int32_t *packed, int8_t *output)
{
    const int32_t first = p->direction < 0 ? p->output_width - 1 : 0;
    const int32_t pitch = p->stride * p->input_pitch;
    struct usmp_pair_s8_dsp pair;

    usmp_set_pair_s8_dsp(&pair, p, packed);
    usmp_set_runs_of_pair_s8_dsp(&pair, 0, p->input_channels);
    pair.input = rows[0] + first * pitch;
    pair.output = output + first * p->output_pitch;
    pair.pixels = p->output_width;
    pair.input_step = p->direction * pitch - 4 * (pair.words - 1);
    pair.output_step = p->direction * p->output_pitch;
    usmp_dot_pair_s8_dsp(&pair);
}

void usmp_conv_2d_pair_s8_dsp_row(
    const struct usmp_conv_2d_s8_dsp_parameters *p, const int8_t *const *rows, const int32_t *packed,
    const int8_t *zeros, int8_t *output)
{
    const int32_t height = p->window_height;
    const int32_t width = p->window_width;
    const int32_t channels = p->input_channels;
    const int is_dense = p->dilation == 1 && p->input_pitch == channels && channels % 4 == 0;
    const int are_whole = is_dense && usmp_are_all_inside_s8(rows, height);
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const int8_t *runs[64];
    struct usmp_pair_s8_dsp pair;

    usmp_set_pair_s8_dsp(&pair, p, packed);
    pair.runs = runs;
    pair.input_step = 0;
    pair.output_step = 0;
    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        const int32_t start = x * p->stride - p->before;
        int32_t count = height * width;

        if (are_whole && start >= 0 && start + width <= p->input_width) { /* a run for each row of the window */
            count = height;
            usmp_set_runs_of_pair_s8_dsp(&pair, count - 1, width * channels);
            for (int32_t y = 0; y < height; ++y) {
                runs[height - 1 - y] = rows[y] + start * channels;
            }
        } else {
            usmp_set_runs_of_pair_s8_dsp(&pair, count - 1, channels);
            usmp_find_taps_s8(rows, zeros, height, width, start, p->dilation, p->input_width, p->input_pitch, -1, runs);
        }
        pair.input = runs[count - 1];
        pair.output = output + x * p->output_pitch;
        pair.pixels = 1;
        usmp_dot_pair_s8_dsp(&pair);
    }
}
