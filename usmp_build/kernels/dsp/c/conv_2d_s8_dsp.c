#include <string.h>

#include "arithmetic.h"
#include "blocks_dsp.h"
#include "conv_2d_dsp.h"
#include "dot_dsp.h"
#include "dot_s16_dsp.h"
#include "taps.h"
#include "walk.h"
#include "window.h"

/* One output row with a window of one pixel that is never outside of the row. */
void usmp_conv_2d_1x1_s8_dsp_row(
    const struct usmp_conv_2d_s8_dsp_parameters *p, const int8_t *const *rows, const int32_t *packed, int8_t *output)
{
    const int32_t first = p->direction < 0 ? p->output_width - 1 : 0;
    const int32_t pitch = p->stride * p->input_pitch;
    struct usmp_pixels_s8_dsp dot;

    output += usmp_set_blocks_s8_dsp(&dot, p, packed, 1, p->input_channels);
    usmp_set_runs_s8_dsp(&dot, 0, p->input_channels);
    dot.output = output + first * p->output_pitch;
    dot.pixels = p->output_width;
    dot.input = rows[0] + first * pitch;
    dot.input_step = p->direction * pitch;
    usmp_dot_s8_dsp(&dot);
}

/* One output row with a window of at most 64 pixels, from the input rows under it; a row that is NULL is padding.  Each
 * pixel is a run.  `zeros` is a pixel of the input's zero point. */
void usmp_conv_2d_s8_dsp_row(
    const struct usmp_conv_2d_s8_dsp_parameters *p, const int8_t *const *rows, const int32_t *packed,
    const int8_t *zeros, int8_t *output)
{
    const int32_t height = p->window_height;
    const int32_t width = p->window_width;
    const int32_t channels = p->input_channels;
    const int is_dense = p->dilation == 1 && p->input_pitch == channels && channels * (int32_t)sizeof(int8_t) % 4 == 0;
    const struct usmp_taps inside = usmp_rows_inside_s8(rows, height);
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const int8_t *runs[65];
    struct usmp_pixels_s8_dsp dot;
    const int32_t first = usmp_set_blocks_s8_dsp(&dot, p, packed, height * width, channels);

    usmp_set_zero_point_s8_dsp(&dot, p);
    dot.input_step = 0;
    dot.runs = runs;
    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        const int32_t start = x * p->stride - p->before;

        if (!is_dense || !usmp_join_rows_s8_dsp(&dot, p, rows, inside, start, runs)) {
            usmp_set_runs_s8_dsp(&dot, height * width - 1, channels);
            usmp_find_taps_s8(rows, zeros, height, width, start, p->dilation, p->input_width, p->input_pitch, -1, runs);
        }
        dot.input = runs[dot.other_runs];
        dot.output = output + x * p->output_pitch + first;
        dot.pixels = 1;
        usmp_dot_s8_dsp(&dot);
    }
}

/* Copies two bytes or more, a word at a time; the last word may overlap the one before it. */
static inline void usmp_copy_words(const void *source, int32_t bytes, void *target)
{
    const char *const from = (const char *)source;
    char *const to = (char *)target;

    if (bytes < 4) {
        memcpy(to, from, 2);
        if (bytes == 3) {
            to[2] = from[2];
        }
        return;
    }
    for (int32_t i = 0; i < bytes - 4; i += 4) {
        memcpy(to + i, from + i, 4);
    }
    memcpy(to + bytes - 4, from + bytes - 4, 4);
}

/* Gathers the pixels under a window in `patch`. */
static inline void usmp_gather_s8_dsp(
    const struct usmp_conv_2d_s8_dsp_parameters *p, const int8_t *const *rows, int32_t start, int8_t *patch)
{
    const int32_t channels = p->input_channels;
    const struct usmp_taps taps = usmp_taps_inside(start, p->dilation, p->window_width, p->input_width);
    const int32_t bytes = (taps.end - taps.first) * channels * (int32_t)sizeof(int8_t);
    const int is_dense = p->dilation == 1 && p->input_pitch == channels;

    for (int32_t y = 0; y < p->window_height; ++y, patch += p->window_width * channels) {
        int8_t *const to = patch + taps.first * channels;

        if (rows[y] == NULL || taps.end - taps.first < p->window_width) {
            memset(patch, p->input_zero_point, (size_t)(p->window_width * channels) * sizeof(int8_t));
        }
        if (rows[y] != NULL && is_dense && bytes >= 2) {
            usmp_copy_words(rows[y] + (start + taps.first) * channels, bytes, to);
        } else if (rows[y] != NULL) {
            for (int32_t tap = taps.first; tap < taps.end; ++tap) {
                for (int32_t c = 0; c < channels; ++c) {
                    patch[tap * channels + c] = rows[y][(start + tap * p->dilation) * p->input_pitch + c];
                }
            }
        }
    }
}

/* `patch` has room for the window, and for a word at least. */
static inline void usmp_make_patches_s8_dsp(
    const struct usmp_conv_2d_s8_dsp_parameters *p, const int8_t *const *rows, const int32_t *packed, int8_t *patch,
    int8_t *output)
{
    const int32_t size = p->window_height * p->window_width * p->input_channels;
    const int32_t elements = usmp_maximum(4 / (int32_t)sizeof(int8_t), size);
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    struct usmp_pixels_s8_dsp dot;
    const int32_t first = usmp_set_blocks_s8_dsp(&dot, p, packed, 1, elements);

    usmp_set_runs_s8_dsp(&dot, 0, elements);
    dot.input_step = 0;
    dot.input = patch;
    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        usmp_gather_s8_dsp(p, rows, x * p->stride - p->before, patch);
        dot.output = output + x * p->output_pitch + first;
        dot.pixels = 1;
        usmp_dot_s8_dsp(&dot);
    }
}

/* One output row with a window of at most 64 bytes, from the input rows under it; a row that is NULL is padding.  All
 * bytes are one run. */
void usmp_conv_2d_patch_s8_dsp_row(
    const struct usmp_conv_2d_s8_dsp_parameters *p, const int8_t *const *rows, const int32_t *packed, int8_t *output)
{
    int8_t patch[64 / sizeof(int8_t)] = {0};
    usmp_make_patches_s8_dsp(p, rows, packed, patch, output);
}

/* The same with a window of at most 256 bytes. */
void usmp_conv_2d_large_patch_s8_dsp_row(
    const struct usmp_conv_2d_s8_dsp_parameters *p, const int8_t *const *rows, const int32_t *packed, int8_t *output)
{
    int8_t patch[256 / sizeof(int8_t)] = {0};
    usmp_make_patches_s8_dsp(p, rows, packed, patch, output);
}
