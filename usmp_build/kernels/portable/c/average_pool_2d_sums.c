/* AVERAGE_POOL_2D whose window makes one output row, by adding up the rows of the image. */
#include "arithmetic.h"
#include "pixel_sums.h"
#include "pool_2d.h"
#include "walk.h"
#include "window.h"

/* Clears the sums. */
void usmp_average_pool_2d_sums_s8_begin(
    const struct usmp_average_pool_2d_sums_s8_parameters *p, usmp_pool_sum *sums)
{
    for (int32_t i = 0; i < p->output_width * p->channels; ++i) {
        sums[i] = 0;
    }
}

/* Adds row `y` of the image. */
void usmp_average_pool_2d_sums_s8_row(
    const struct usmp_average_pool_2d_sums_s8_parameters *p, const int8_t *row, int32_t y, usmp_pool_sum *sums)
{
    const int is_inside = y >= p->first_row && y < p->end_row;
#if USMP_S8 || USMP_S16
    const int32_t channels = p->channels;
#endif

    for (int32_t x = 0; is_inside && x < p->output_width; ++x) {
        const int32_t start = x * p->stride - p->before;
        const struct usmp_taps taps = usmp_taps_inside(start, 1, p->window_width, p->input_width);

#if USMP_S8 || USMP_S16
        const int8_t *const pixels = row + (start + taps.first) * channels;
        usmp_add_pixels_s8(pixels, taps.end - taps.first, channels, sums + x * channels);
#else
        for (int32_t c = 0; c < p->channels; ++c) {
            float sum = sums[x * p->channels + c];

            for (int32_t tap = taps.first; tap < taps.end; ++tap) {
                sum += row[(start + tap) * p->channels + c];
            }
            sums[x * p->channels + c] = sum;
        }
#endif
    }
}

/* Makes means of the sums. */
void usmp_average_pool_2d_sums_s8_finish(
    const struct usmp_average_pool_2d_sums_s8_parameters *p, const usmp_pool_sum *sums, int8_t *output)
{
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk channels = usmp_walk_along(p->channels, 1, p->direction);

    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        const int32_t start = x * p->stride - p->before;
        const struct usmp_taps taps = usmp_taps_inside(start, 1, p->window_width, p->input_width);
        const int32_t inside = (taps.end - taps.first) * (p->end_row - p->first_row);
        const int32_t count = p->counted != 0 ? p->counted : inside;
        const usmp_number outside = (usmp_number)(count - inside) * p->outside;

        for (int32_t c = channels.first; c != channels.end; c += channels.step) {
            const usmp_number sum = sums[x * p->channels + c] + outside;
#if USMP_S8 || USMP_S16
            output[x * p->channels + c] = (int8_t)usmp_clamp(usmp_mean_of(sum, count), p->low, p->high);
#else
            output[x * p->channels + c] = usmp_clamp_f32(sum / (float)count, p->low, p->high);
#endif
        }
    }
}
