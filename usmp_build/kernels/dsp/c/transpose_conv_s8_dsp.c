#include "blocks_dsp.h"
#include "conv_2d_dsp.h"
#include "dot_dsp.h"
#include "transpose_conv.h"
#include "usmp.h"
#include "walk.h"

/* As usmp_conv_2d_s8_dsp_parameters and usmp_transpose_conv_s8_parameters. */
struct usmp_transpose_conv_s8_dsp_parameters {
    int32_t input_width;
    int32_t input_channels;
    int32_t output_width;
    int32_t output_channels;
    int32_t window_height;
    int32_t window_width;
    int32_t stride_down;
    int32_t stride;
    int32_t above;
    int32_t before;
    int32_t input_zero_point;
    int32_t rounding; /* 1 + 2 * the output's zero point */
    int32_t low;
    int32_t high;
    int32_t is_clamped; /* whether the limits are not those of the type */
    int32_t is_wide;    /* whether weights are in `packed` as if for wide sums */
    int32_t is_divided; /* 2 if each pixel has sums of its own */
    int32_t input_pitch;
    int32_t output_pitch;
    int32_t direction; /* 1 forward, -1 backward */
};

/* What all pixels have in common: they are made as those of a convolution. */
static inline struct usmp_conv_2d_s8_dsp_parameters usmp_as_convolution_s8_dsp(
    const struct usmp_transpose_conv_s8_dsp_parameters *p)
{
    struct usmp_conv_2d_s8_dsp_parameters as_convolution = {
        p->input_width, p->input_channels, p->output_width, p->output_channels, p->window_height, p->window_width,
        p->stride, 1, p->before, p->input_zero_point, p->rounding, p->low, p->high, p->is_clamped, p->is_wide,
        p->is_divided, p->input_pitch, p->output_pitch, p->direction};
    return as_convolution;
}

/* Output row `y` from the input rows that may reach it, as many as strides fit into a window, begun or whole; a row that
 * is NULL is outside of the image: there the input is `zeros`, a pixel of its zero point.  A block of `packed` has the
 * taps of all phases; those of other phases are left out. */
void usmp_transpose_conv_s8_dsp_row(
    const struct usmp_transpose_conv_s8_dsp_parameters *p, const int8_t *const *rows, int32_t y, const int32_t *packed,
    const int8_t *zeros, int8_t *output)
{
    const struct usmp_conv_2d_s8_dsp_parameters as_convolution = usmp_as_convolution_s8_dsp(p);
    const int32_t taps = p->window_height * p->window_width;
    const int32_t tap = 16 * ((p->input_channels + 3) / 4); /* bytes in a block */
    const int32_t last = (p->window_height - 1) / p->stride_down;
    const int32_t down = (y + p->above) % p->stride_down;
    const int32_t height = usmp_taps_of_phase(p->window_height, p->stride_down, down);
    const int32_t above = usmp_taps_before(p->window_height, p->stride_down, down) * p->window_width;
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const int8_t *runs[65];
    struct usmp_pixels_s8_dsp dot;
    const int32_t first = usmp_set_blocks_s8_dsp(&dot, &as_convolution, packed, taps, p->input_channels);

    usmp_set_zero_point_s8_dsp(&dot, &as_convolution);
    usmp_set_runs_s8_dsp(&dot, 0, p->input_channels);
    dot.input_step = 0;
    dot.runs = runs;
    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        const int32_t right = (x + p->before) / p->stride;
        const int32_t across = x + p->before - right * p->stride;
        const int32_t width = usmp_taps_of_phase(p->window_width, p->stride, across);
        const int32_t before = above + height * usmp_taps_before(p->window_width, p->stride, across);
        const int32_t after = taps - before - height * width;
        int32_t run = height * width - (after == 0);

        runs[0] = NULL; /* what ends them before a gap */
        dot.other_runs = run;
        usmp_set_gaps_s8_dsp(&dot, tap * before, 0, tap * after);
        for (int32_t line = 0; line < height; ++line) {
            const int8_t *const row = rows[last - line];

            for (int32_t i = 0; i < width; ++i, --run) {
                const int32_t place = right - i;
                const int is_inside = row != NULL && place >= 0 && place < p->input_width;
                runs[run] = is_inside ? row + place * p->input_pitch : zeros;
            }
        }
        dot.input = runs[dot.other_runs];
        dot.output = output + x * p->output_pitch + first;
        dot.pixels = 1;
        usmp_dot_s8_dsp(&dot);
    }
}
