#include "arithmetic.h"
#include "pool_2d.h"
#include "window.h"

/* The mean of `count` numbers, rounded to the nearest, halves away from zero. */
static inline int32_t usmp_mean_of(int32_t sum, int32_t count)
{
    return sum > 0 ? (sum + count / 2) / count : (sum - count / 2) / count;
}

void usmp_average_pool_2d_s8_row(
    const struct usmp_pool_2d_s8_parameters *p, const int8_t *const *rows, int8_t *output)
{
    for (int32_t x = 0; x < p->output_width; ++x) {
        const int32_t start = x * p->stride - p->before;
        const struct usmp_taps taps = usmp_taps_inside(start, 1, p->window_width, p->input_width);

        for (int32_t c = 0; c < p->channels; ++c) {
            int32_t sum = 0;
            int32_t count = 0;

            for (int32_t y = 0; y < p->window_height; ++y) {
                if (rows[y] == NULL) {
                    continue;
                }
                for (int32_t tap = taps.first; tap < taps.end; ++tap) {
                    sum += rows[y][(start + tap) * p->channels + c];
                }
                count += taps.end - taps.first;
            }
            *output++ = (int8_t)usmp_clamp(usmp_mean_of(sum, count), p->low, p->high);
        }
    }
}

void usmp_max_pool_2d_s8_row(
    const struct usmp_pool_2d_s8_parameters *p, const int8_t *const *rows, int8_t *output)
{
    for (int32_t x = 0; x < p->output_width; ++x) {
        const int32_t start = x * p->stride - p->before;
        const struct usmp_taps taps = usmp_taps_inside(start, 1, p->window_width, p->input_width);

        for (int32_t c = 0; c < p->channels; ++c) {
            int32_t most = INT8_MIN;

            for (int32_t y = 0; y < p->window_height; ++y) {
                for (int32_t tap = taps.first; rows[y] != NULL && tap < taps.end; ++tap) {
                    most = usmp_maximum(most, rows[y][(start + tap) * p->channels + c]);
                }
            }
            *output++ = (int8_t)usmp_clamp(most, p->low, p->high);
        }
    }
}
