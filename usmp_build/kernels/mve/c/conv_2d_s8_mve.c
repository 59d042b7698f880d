/* CONV_2D with Helium; `packed` is laid out as dot_mve.h says. */
#include "conv_2d.h"
#include "dot_mve.h"
#include "gather_mve.h"
#include "mve.h"
#include "taps.h"
#include "walk.h"
#include "window.h"

/* Describes a layer whose pixels are made of `runs` runs of `bytes` bytes; returns the channel that comes first. */
static inline int32_t usmp_describe_runs_mve(
    const struct usmp_conv_2d_s8_parameters *p, const int32_t *packed, int32_t runs, int32_t bytes,
    struct usmp_pixels_mve *pixels)
{
    pixels->run = bytes;
    pixels->runs = runs;
    return usmp_describe_mve(p, packed, 4, 36 + 64 * runs * ((bytes + 15) / 16), pixels);
}

/* One output row with a window of one row and at most 64 bytes side by side, which is never outside of the image. */
void usmp_conv_2d_short_s8_mve_row(
    const struct usmp_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed, int8_t *output)
{
    const int32_t first = usmp_walk_along(p->output_width, 1, p->direction).first;
    struct usmp_pixels_mve pixels;
    const int32_t channel = usmp_describe_runs_mve(p, packed, 1, p->window_width * p->input_channels, &pixels);

    pixels.count = p->output_width;
    usmp_dot_short_s8_mve(
        &pixels, rows[0] + first * p->stride * p->input_pitch, output + first * p->output_pitch + channel);
}

/* One output row with a window of at most 64 pixels, from the input rows under it; a row that is NULL is padding.  Each
 * pixel is a run.  `zeros` is a pixel of the input's zero point; NULL if nothing is outside of the image. */
void usmp_conv_2d_s8_mve_row(
    const struct usmp_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed,
    const int8_t *zeros, int8_t *output)
{
    const int32_t height = p->window_height;
    const int32_t width = p->window_width;
    const int32_t channels = p->input_channels;
    const int is_dense = p->dilation == 1 && p->input_pitch == channels && channels % 16 == 0;
    const int are_inside = usmp_are_all_inside_s8(rows, height);
    const struct usmp_walk across = usmp_walk_along(p->output_width, 1, p->direction);
    const int8_t *runs[64];
    struct usmp_pixels_mve pixels;
    const int32_t channel = usmp_describe_runs_mve(p, packed, height * width, channels, &pixels);

    for (int32_t x = across.first; x != across.end; x += pixels.count * across.step) {
        const int32_t start = x * p->stride - p->before;
        const int32_t inside = are_inside ? usmp_pixels_inside_mve(p, x) : 0;

        pixels.count = usmp_maximum(inside, 1);
        if (inside != 0 && is_dense) { /* a run for each row of the window */
            pixels.runs = height;
            pixels.run = width * channels;
            for (int32_t y = 0; y < height; ++y) {
                runs[y] = rows[y] + start * channels;
            }
        } else {
            pixels.runs = height * width;
            pixels.run = channels;
            usmp_find_taps_s8(
                rows, zeros, height, width, start, p->dilation, p->input_width, p->input_pitch, 1, runs);
        }
        usmp_dot_s8_mve(&pixels, runs, 0, output + x * p->output_pitch + channel);
    }
}

/* One output row with a window of at most 64 rows, all inside of the image, whose pixels are contiguous.  Each row is a
 * run. */
void usmp_conv_2d_rows_s8_mve_row(
    const struct usmp_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed, int8_t *output)
{
    const int32_t first = usmp_walk_along(p->output_width, 1, p->direction).first;
    struct usmp_pixels_mve pixels;
    const int32_t channel =
        usmp_describe_runs_mve(p, packed, p->window_height, p->window_width * p->input_channels, &pixels);

    pixels.count = p->output_width;
    usmp_dot_s8_mve(&pixels, rows, first * p->stride * p->input_pitch, output + first * p->output_pitch + channel);
}

/* Gathers what is under the window from pixel `start` on; `taps` is for the function alone. */
static inline void usmp_gather_window_mve(
    const struct usmp_conv_2d_s8_parameters *p, const int8_t *const *rows, int32_t start, const int8_t **taps,
    int8_t *patch)
{
    const int32_t channels = p->input_channels;
    struct usmp_gathering_mve gathering;

    gathering.zero_point = p->input_zero_point;
    gathering.vectors = (p->window_height * p->window_width * channels + 15) / 16;
    if (p->dilation == 1 && p->input_pitch == channels) { /* a run for each row of the window */
        const struct usmp_taps inside = usmp_taps_inside(start, 1, p->window_width, p->input_width);
        gathering.runs = p->window_height;
        gathering.distance = p->window_width * channels;
        gathering.size = usmp_maximum(inside.end - inside.first, 0) * channels;
        gathering.first = inside.first * channels;
        usmp_gather_s8_mve(rows, (start + inside.first) * channels, &gathering, patch);
    } else {
        gathering.runs = p->window_height * p->window_width;
        gathering.distance = channels;
        gathering.size = channels;
        gathering.first = 0;
        usmp_find_taps_s8(
            rows, NULL, p->window_height, p->window_width, start, p->dilation, p->input_width, p->input_pitch, 1, taps);
        usmp_gather_s8_mve(taps, 0, &gathering, patch);
    }
}

/* One output row with a window of at most 64 bytes, from the input rows under it; a row that is NULL is padding.  All
 * bytes are one run. */
void usmp_conv_2d_patch_s8_mve_row(
    const struct usmp_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed, int8_t *output)
{
    const struct usmp_walk across = usmp_walk_along(p->output_width, 1, p->direction);
    const int8_t *taps[64];
    int8_t patch[64];
    struct usmp_pixels_mve pixels;
    const int32_t channel =
        usmp_describe_runs_mve(p, packed, 1, p->window_height * p->window_width * p->input_channels, &pixels);

    pixels.count = 1;
    for (int32_t x = across.first; x != across.end; x += across.step) {
        usmp_gather_window_mve(p, rows, x * p->stride - p->before, taps, patch);
        usmp_dot_short_s8_mve(&pixels, patch, output + x * p->output_pitch + channel);
    }
}

/* The same with a window of at most 256 bytes, and of 64 pixels where they lie apart. */
void usmp_conv_2d_large_patch_s8_mve_row(
    const struct usmp_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed, int8_t *output)
{
    const struct usmp_walk across = usmp_walk_along(p->output_width, 1, p->direction);
    const int8_t *taps[64];
    int8_t patch[256];
    const int8_t *const run = patch;
    struct usmp_pixels_mve pixels;
    const int32_t channel =
        usmp_describe_runs_mve(p, packed, 1, p->window_height * p->window_width * p->input_channels, &pixels);

    pixels.count = 1;
    for (int32_t x = across.first; x != across.end; x += across.step) {
        usmp_gather_window_mve(p, rows, x * p->stride - p->before, taps, patch);
        usmp_dot_s8_mve(&pixels, &run, 0, output + x * p->output_pitch + channel);
    }
}
