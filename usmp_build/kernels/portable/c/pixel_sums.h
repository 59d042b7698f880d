/* Sums over neighbors in a row, of each channel. */
#ifndef USMP_PIXEL_SUMS_H
#define USMP_PIXEL_SUMS_H

#include "pixel_fours.h"
#include "usmp.h"

/* Adds `count` neighbors to the sums of their channels. */
static inline void usmp_add_pixels_s8(const int8_t *pixels, int32_t count, int32_t channels, usmp_i32 *sums)
{
    const int32_t fours = channels / 4;

    if (fours > 0 && count > 0) {
        usmp_add_fours_s8(pixels, count, channels, sums);
    }
    for (int32_t c = 4 * fours; c < channels; ++c) {
        const int8_t *pixel = pixels + c;
        int32_t sum = sums[c];

        for (int32_t i = 0; i < count; ++i, pixel += channels) {
            sum += *pixel;
        }
        sums[c] = sum;
    }
}

#endif
