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
