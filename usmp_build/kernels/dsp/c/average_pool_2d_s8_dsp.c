/* AVERAGE_POOL_2D of int8 with Arm's DSP extension. */
#include "arithmetic.h"
#include "dsp.h"
#include "pool_2d.h"
#include "walk.h"
#include "window.h"
#include <string.h>

/* Adds four int8 to sums of 16 bits: those of even channels, and those of odd ones. */
static inline void usmp_add_four_dsp(uint32_t four, uint32_t sums[2])
{
#if USMP_DSP
    __asm__("sxtab16 %0, %0, %1" : "+r"(sums[0]) : "r"(four));
    __asm__("sxtab16 %0, %0, %1, ror #8" : "+r"(sums[1]) : "r"(four));
#else
    for (int32_t i = 0; i < 2; ++i) {
        const int32_t low = (int8_t)(four >> 8 * i & 0xff);
        const int32_t high = (int8_t)(four >> 8 * (i + 2) & 0xff);
        sums[i] = ((sums[i] >> 16) + (uint32_t)high) << 16 | ((sums[i] + (uint32_t)low) & 0xffff);
    }
#endif
}

/* Adds `count` pixels of a row under a window: four channels of each. */
static inline void usmp_add_row_dsp(const int8_t *pixel, int32_t count, int32_t pitch, uint32_t sums[2])
{
    for (; count > 0; --count, pixel += pitch) {
        uint32_t four;

        memcpy(&four, pixel, 4);
        usmp_add_four_dsp(four, sums);
    }
}

static inline int8_t usmp_average_dsp(const struct usmp_pool_2d_s8_parameters *p, int32_t sum, int32_t count)
{
    return (int8_t)usmp_clamp(usmp_mean_of(sum, count), p->low, p->high);
}

/* One output row from the input rows under a window of at most 256 pixels; a row that is NULL is padding. */
void usmp_average_pool_2d_s8_dsp_row(
    const struct usmp_pool_2d_s8_parameters *p, const int8_t *const *rows, int8_t *output)
{
    const int32_t fours = p->channels / 4;
    const int32_t all = p->window_height * p->window_width;
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk turns = usmp_walk_along(p->channels - 3 * fours, 1, p->direction);
    int32_t height = 0; /* of the part of the window that is inside */

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
        int8_t *const pixel = output + x * p->output_pitch;

        for (int32_t turn = turns.first; turn != turns.end; turn += turns.step) {
            const int32_t c = turn < fours ? 4 * turn : turn + 3 * fours;

            if (turn < fours) {
                uint32_t sums[2] = {0, 0};

                for (int32_t y = 0; y < p->window_height; ++y) {
                    if (rows[y] != NULL) {
                        usmp_add_row_dsp(rows[y] + first + c, width, p->input_pitch, sums);
                    }
                }
                pixel[c] = usmp_average_dsp(p, outside + (int16_t)(sums[0] & 0xffff), count);
                pixel[c + 1] = usmp_average_dsp(p, outside + (int16_t)(sums[1] & 0xffff), count);
                pixel[c + 2] = usmp_average_dsp(p, outside + (int16_t)(sums[0] >> 16), count);
                pixel[c + 3] = usmp_average_dsp(p, outside + (int16_t)(sums[1] >> 16), count);
            } else {
                int32_t sum = outside;

                for (int32_t y = 0; y < p->window_height; ++y) {
                    for (int32_t i = 0; rows[y] != NULL && i < width; ++i) {
                        sum += rows[y][first + c + i * p->input_pitch];
                    }
                }
                pixel[c] = usmp_average_dsp(p, sum, count);
            }
        }
    }
}
