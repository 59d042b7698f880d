/* MEAN of integers. */
#include "arithmetic.h"
#include "mean.h"
#include "pixel_sums.h"
#include "walk.h"

/* Clears the sums. */
void usmp_mean_s8_begin(const struct usmp_mean_s8_parameters *p, usmp_i32 *sums)
{
    for (int32_t c = 0; c < p->channels; ++c) {
        sums[c] = p->offset;
    }
}

/* Adds a row. */
void usmp_mean_s8_row(const struct usmp_mean_s8_parameters *p, const int8_t *row, usmp_i32 *sums)
{
    usmp_add_pixels_s8(row, p->width, p->channels, sums);
}

/* Makes means of the sums. */
void usmp_mean_s8_finish(const struct usmp_mean_s8_parameters *p, usmp_i32 *sums, int8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->channels, 1, p->direction);

    for (int32_t c = walk.first; c != walk.end; c += walk.step) {
        const int32_t mean = usmp_scale(sums[c], p->multiplier, p->shift);
        output[c] = (int8_t)(usmp_clamp(mean, p->low, p->high) + p->output_zero_point);
    }
}
