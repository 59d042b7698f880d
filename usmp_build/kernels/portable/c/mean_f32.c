#include "mean.h"
#include "walk.h"

/* Clears the sums. */
void usmp_mean_f32_begin(const struct usmp_mean_f32_parameters *p, usmp_f32 *sums)
{
    for (int32_t c = 0; c < p->channels; ++c) {
        sums[c] = 0.0f;
    }
}

/* Adds a row. */
void usmp_mean_f32_row(const struct usmp_mean_f32_parameters *p, const usmp_f32 *row, usmp_f32 *sums)
{
    for (int32_t x = 0; x < p->width; ++x) {
        for (int32_t c = 0; c < p->channels; ++c) {
            sums[c] += *row++;
        }
    }
}

/* Makes means of the sums. */
void usmp_mean_f32_finish(const struct usmp_mean_f32_parameters *p, usmp_f32 *sums, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->channels, 1, p->direction);

    for (int32_t c = walk.first; c != walk.end; c += walk.step) {
        output[c] = sums[c] / p->divisor;
    }
}
