/* AVERAGE_POOL_2D of integers. */
#include "arithmetic.h"
#include "pool_2d.h"
#include "walk.h"
#include "window.h"

/* One output row from the input rows under the window; a row that is NULL is padding. */
void usmp_average_pool_2d_s8_row(
    const struct usmp_pool_2d_s8_parameters *p, const int8_t *const *rows, int8_t *output)
{
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk channels = usmp_walk_along(p->channels, 1, p->direction);
    const int32_t all = p->window_height * p->window_width;
    int32_t height = 0; /* of the part of the window that is inside of the image */

    for (int32_t y = 0; y < p->window_height; ++y) {
        height += rows[y] != NULL;
    }
    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        const int32_t start = x * p->stride - p->before;
        const struct usmp_taps taps = usmp_taps_inside(start, 1, p->window_width, p->input_width);
        const int32_t first = (start + taps.first) * p->input_pitch;
        const int32_t width = taps.end - taps.first;
        const int32_t count = p->counts_outside ? all : height * width;
        const int32_t outside = p->counts_outside ? (all - height * width) * p->outside : 0;

        for (int32_t c = channels.first; c != channels.end; c += channels.step) {
            int32_t sum = outside;

            for (int32_t y = 0; y < p->window_height; ++y) {
                for (int32_t i = 0; rows[y] != NULL && i < width; ++i) {
                    sum += rows[y][first + c + i * p->input_pitch];
                }
            }
            output[x * p->output_pitch + c] = (int8_t)usmp_clamp(usmp_mean_of(sum, count), p->low, p->high);
        }
    }
}
