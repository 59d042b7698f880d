#include <float.h>

#include "arithmetic.h"
#include "pool_2d.h"
#include "walk.h"
#include "window.h"

/* One output row from the input rows under the window; a row that is NULL is padding. */
void usmp_average_pool_2d_f32_row(
    const struct usmp_pool_2d_f32_parameters *p, const usmp_f32 *const *rows, usmp_f32 *output)
{
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk channels = usmp_walk_along(p->channels, 1, p->direction);

    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        const int32_t start = x * p->stride - p->before;
        const struct usmp_taps taps = usmp_taps_inside(start, 1, p->window_width, p->input_width);

        for (int32_t c = channels.first; c != channels.end; c += channels.step) {
            float sum = 0.0f;
            int32_t count = 0;

            for (int32_t y = 0; y < p->window_height; ++y) {
                if (rows[y] == NULL) {
                    continue;
                }
                for (int32_t tap = taps.first; tap < taps.end; ++tap) {
                    sum += rows[y][(start + tap) * p->input_pitch + c];
                }
                count += taps.end - taps.first;
            }
            if (p->counts_outside) {
                sum += (float)(p->window_height * p->window_width - count) * p->outside;
                count = p->window_height * p->window_width;
            }
            output[x * p->output_pitch + c] = usmp_clamp_f32(sum / (float)count, p->low, p->high);
        }
    }
}

/* One output row from the input rows under the window; a row that is NULL is padding. */
void usmp_max_pool_2d_f32_row(
    const struct usmp_pool_2d_f32_parameters *p, const usmp_f32 *const *rows, usmp_f32 *output)
{
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk channels = usmp_walk_along(p->channels, 1, p->direction);

    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        const int32_t start = x * p->stride - p->before;
        const struct usmp_taps taps = usmp_taps_inside(start, 1, p->window_width, p->input_width);

        for (int32_t c = channels.first; c != channels.end; c += channels.step) {
            float most = -FLT_MAX;

            for (int32_t y = 0; y < p->window_height; ++y) {
                if (rows[y] == NULL) {
                    continue;
                }
                for (int32_t tap = taps.first; tap < taps.end; ++tap) {
                    const float value = rows[y][(start + tap) * p->input_pitch + c];
                    most = value > most ? value : most;
                }
            }
            output[x * p->output_pitch + c] = usmp_clamp_f32(most, p->low, p->high);
        }
    }
}

/* Clears the sums. */
void usmp_average_pool_2d_sums_f32_begin(
    const struct usmp_average_pool_2d_sums_f32_parameters *p, usmp_f32 *sums)
{
    for (int32_t i = 0; i < p->output_width * p->channels; ++i) {
        sums[i] = 0.0f;
    }
}

/* Adds row `y` of the image. */
void usmp_average_pool_2d_sums_f32_row(
    const struct usmp_average_pool_2d_sums_f32_parameters *p, const usmp_f32 *row, int32_t y, usmp_f32 *sums)
{
    const int is_inside = y >= p->first_row && y < p->end_row;

    for (int32_t x = 0; is_inside && x < p->output_width; ++x) {
        const int32_t start = x * p->stride - p->before;
        const struct usmp_taps taps = usmp_taps_inside(start, 1, p->window_width, p->input_width);

        for (int32_t c = 0; c < p->channels; ++c) {
            float sum = sums[x * p->channels + c];

            for (int32_t tap = taps.first; tap < taps.end; ++tap) {
                sum += row[(start + tap) * p->channels + c];
            }
            sums[x * p->channels + c] = sum;
        }
    }
}

/* Makes means of the sums. */
void usmp_average_pool_2d_sums_f32_finish(
    const struct usmp_average_pool_2d_sums_f32_parameters *p, const usmp_f32 *sums, usmp_f32 *output)
{
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk channels = usmp_walk_along(p->channels, 1, p->direction);

    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        const int32_t start = x * p->stride - p->before;
        const struct usmp_taps taps = usmp_taps_inside(start, 1, p->window_width, p->input_width);

        for (int32_t c = channels.first; c != channels.end; c += channels.step) {
            int32_t count = (taps.end - taps.first) * (p->end_row - p->first_row);
            float sum = sums[x * p->channels + c];

            if (p->counted != 0) {
                sum += (float)(p->counted - count) * p->outside;
                count = p->counted;
            }
            output[x * p->channels + c] = usmp_clamp_f32(sum / (float)count, p->low, p->high);
        }
    }
}
