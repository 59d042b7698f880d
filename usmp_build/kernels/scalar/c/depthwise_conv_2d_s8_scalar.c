#include "depthwise_conv_2d.h"
#include "scalar.h"
#include "taps.h"
#include "usmp.h"
#include "walk.h"

/* The sums of eight channels: a bias, and for each tap the input `c` elements after it, times its weight. */
static USMP_OUT_OF_LINE void usmp_add_eight_s8_scalar(
    const int8_t *const *taps, int32_t count, int32_t c, const int8_t *w, int32_t channels, const int32_t *bias,
    uint32_t *sums)
{
    uint32_t sum_a = (uint32_t)bias[0], sum_b = (uint32_t)bias[1], sum_c = (uint32_t)bias[2], sum_d = (uint32_t)bias[3];
    uint32_t sum_e = (uint32_t)bias[4], sum_f = (uint32_t)bias[5], sum_g = (uint32_t)bias[6], sum_h = (uint32_t)bias[7];

    for (int32_t tap = 0; tap < count; ++tap, ++taps, w += channels) {
        const int8_t *const x = *taps + c;

        USMP_TWO_PRODUCTS(sum_a, x[0], w[0], sum_b, x[1], w[1]);
        USMP_TWO_PRODUCTS(sum_c, x[2], w[2], sum_d, x[3], w[3]);
        USMP_TWO_PRODUCTS(sum_e, x[4], w[4], sum_f, x[5], w[5]);
        USMP_TWO_PRODUCTS(sum_g, x[6], w[6], sum_h, x[7], w[7]);
    }
    sums[0] = sum_a;
    sums[1] = sum_b;
    sums[2] = sum_c;
    sums[3] = sum_d;
    sums[4] = sum_e;
    sums[5] = sum_f;
    sums[6] = sum_g;
    sums[7] = sum_h;
}

/* The same of four. */
static USMP_OUT_OF_LINE void usmp_add_four_s8_scalar(
    const int8_t *const *taps, int32_t count, int32_t c, const int8_t *w, int32_t channels, const int32_t *bias,
    uint32_t *sums)
{
    uint32_t sum_a = (uint32_t)bias[0], sum_b = (uint32_t)bias[1], sum_c = (uint32_t)bias[2], sum_d = (uint32_t)bias[3];

    for (int32_t tap = 0; tap < count; ++tap, ++taps, w += channels) {
        const int8_t *const x = *taps + c;

        USMP_TWO_PRODUCTS(sum_a, x[0], w[0], sum_b, x[1], w[1]);
        USMP_TWO_PRODUCTS(sum_c, x[2], w[2], sum_d, x[3], w[3]);
    }
    sums[0] = sum_a;
    sums[1] = sum_b;
    sums[2] = sum_c;
    sums[3] = sum_d;
}

/* The same of up to eight. */
static void usmp_add_channels_s8_scalar(
    const int8_t *const *taps, int32_t count, int32_t c, int32_t lanes, const int8_t *weights, int32_t channels,
    const int32_t *bias, uint32_t *sums)
{
    int32_t i = 0;

    if (USMP_PIXEL_PAIRS && lanes == 8) {
        usmp_add_eight_s8_scalar(taps, count, c, weights, channels, bias, sums);
        return;
    }
    for (; i + 4 <= lanes; i += 4) {
        usmp_add_four_s8_scalar(taps, count, c + i, weights + i, channels, bias + i, sums + i);
    }
    for (; i < lanes; ++i) {
        sums[i] = (uint32_t)bias[i];
        for (int32_t tap = 0; tap < count; ++tap) {
            sums[i] += (uint32_t)(taps[tap][c + i] * weights[tap * channels + i]);
        }
    }
}

/* One output row of one filter for each channel, of up to 32 taps, from the input rows under the window; the rest is as
 * in usmp_conv_2d_s8_scalar_row, but for weights: one for each channel, for each tap. */
void usmp_depthwise_conv_2d_s8_scalar_row(
    const struct usmp_depthwise_conv_2d_s8_parameters *p, const int8_t *const *rows, const int8_t *weights,
    const int32_t *bias, const int32_t *excess, const int8_t *shifts, const int8_t *zeros, int8_t *output)
{
    const int32_t channels = p->input_channels;
    const int32_t count = p->window_height * p->window_width;
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk blocks = usmp_walk_along(channels, 8, p->direction);
    const struct usmp_scaling_s8_scalar scaling = usmp_scaling_of_s8_scalar(p->low, p->high, p->output_zero_point);
    const struct usmp_taps inside = usmp_positions_inside_s8(
        rows, p->window_height, (p->window_width - 1) * p->dilation + 1, p->stride, p->before, p->input_width,
        p->output_width);
    const int8_t *taps[USMP_MOST_TAPS];
    int32_t place = -1; /* the first pixel with all of its taps inside, as those after it have */

    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        const int is_inside = x >= inside.first && x < inside.end;
        int8_t *const to = output + x * p->output_pitch;

        if (!is_inside || place < 0) {
            usmp_find_taps_s8(
                rows, zeros, p->window_height, p->window_width, x * p->stride - p->before, p->dilation, p->input_width,
                p->input_pitch, 1, taps);
            place = is_inside ? x : -1;
        }
        const int32_t moved = is_inside ? (x - place) * p->stride * p->input_pitch : 0;

        for (int32_t c = blocks.first; c != blocks.end; c += blocks.step) {
            const int32_t lanes = usmp_minimum(8, channels - c);
            uint32_t sums[8];

            usmp_add_channels_s8_scalar(taps, count, moved + c, lanes, weights + c, channels, bias + c, sums);
            for (int32_t i = 0; i < lanes; i += 4) {
                usmp_finish_s8_scalar(
                    &scaling, sums + i, excess + c + i, shifts + c + i, lanes - i, to + c + i, NULL);
            }
        }
    }
}
