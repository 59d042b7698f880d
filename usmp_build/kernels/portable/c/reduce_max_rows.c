/* The largest or the least of all rows of an image and of `width` neighbors in a row, for each of `channels`. */
#include <float.h>

#include "arithmetic.h"
#include "usmp.h"
#include "walk.h"

struct usmp_reduce_max_rows_parameters {
    int32_t width;
    int32_t channels;
    int32_t sign;      /* 1 for the largest, -1 for the least */
    int32_t direction; /* 1 forward, -1 backward */
};

/* Begins below all values: what is kept has the sign. */
void usmp_reduce_max_rows_s8_begin(const struct usmp_reduce_max_rows_parameters *p, usmp_i32 *most)
{
    for (int32_t c = 0; c < p->channels; ++c) {
        most[c] = INT32_MIN;
    }
}

/* Looks at a row. */
void usmp_reduce_max_rows_s8_row(
    const struct usmp_reduce_max_rows_parameters *p, const int8_t *row, usmp_i32 *most)
{
    for (int32_t x = 0; x < p->width; ++x) {
        for (int32_t c = 0; c < p->channels; ++c) {
            most[c] = usmp_maximum(most[c], p->sign * *row++);
        }
    }
}

/* Writes what was found. */
void usmp_reduce_max_rows_s8_finish(
    const struct usmp_reduce_max_rows_parameters *p, usmp_i32 *most, int8_t *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->channels, 1, p->direction);

    for (int32_t c = walk.first; c != walk.end; c += walk.step) {
        output[c] = (int8_t)(p->sign * most[c]);
    }
}

/* Begins below all values: what is kept has the sign. */
void usmp_reduce_max_rows_f32_begin(const struct usmp_reduce_max_rows_parameters *p, usmp_f32 *most)
{
    for (int32_t c = 0; c < p->channels; ++c) {
        most[c] = -FLT_MAX;
    }
}

/* Looks at a row. */
void usmp_reduce_max_rows_f32_row(
    const struct usmp_reduce_max_rows_parameters *p, const usmp_f32 *row, usmp_f32 *most)
{
    const float sign = (float)p->sign;

    for (int32_t x = 0; x < p->width; ++x) {
        for (int32_t c = 0; c < p->channels; ++c) {
            const float value = sign * *row++;
            most[c] = value > most[c] ? value : most[c];
        }
    }
}

/* Writes what was found. */
void usmp_reduce_max_rows_f32_finish(
    const struct usmp_reduce_max_rows_parameters *p, usmp_f32 *most, usmp_f32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->channels, 1, p->direction);

    for (int32_t c = walk.first; c != walk.end; c += walk.step) {
        output[c] = (float)p->sign * most[c];
    }
}
