#include "scalar.h"
#include "transpose_conv.h"
#include "usmp.h"
#include "walk.h"

/* Adds the products of what reaches a pixel of the output: `height` x `width` pixels, the last ones first, from row
 * `last` and column `right` on. */
static void usmp_add_reaching_s8_scalar(
    const struct usmp_transpose_conv_s8_parameters *p, const int8_t *const *rows, const int8_t *zeros, int32_t last,
    int32_t right, int32_t height, int32_t width, const int8_t *weights, uint32_t *sums)
{
    for (int32_t y = 0; y < height; ++y) {
        const int8_t *const row = rows[last - y];

        for (int32_t x = 0; x < width; ++x, weights += 4 * p->input_channels) {
            const int32_t place = right - x;
            const int is_inside = row != NULL && place >= 0 && place < p->input_width;

            usmp_add_run_s8_scalar(
                is_inside ? row + place * p->input_pitch : zeros, weights, p->input_channels, sums);
        }
    }
}

/* Output row `y` from the input rows that may reach it, as many as strides fit into a window, begun or whole; a row that
 * is NULL is outside of the image: there the input is `zeros`, a pixel of its zero point.  Weights are in blocks of four
 * filters, phase after phase, those of an input side by side; biases are those of each phase, with the zero point folded
 * in, each as many as blocks have filters. */
void usmp_transpose_conv_s8_scalar_row(
    const struct usmp_transpose_conv_s8_parameters *p, const int8_t *const *rows, int32_t y, const int8_t *weights,
    const int32_t *bias, const int32_t *excess, const int8_t *shifts, const int8_t *zeros, int8_t *output)
{
    const int32_t size = p->window_height * p->window_width * p->input_channels;
    const int32_t biases = (p->output_channels + 3) / 4 * 4;
    const int32_t down = (y + p->above) % p->stride_down;
    const int32_t height = usmp_taps_of_phase(p->window_height, p->stride_down, down);
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk blocks = usmp_walk_along(p->output_channels, 4, p->direction);
    const struct usmp_scaling_s8_scalar scaling = usmp_scaling_of_s8_scalar(p->low, p->high, p->output_zero_point);

    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        const int32_t across = (x + p->before) % p->stride;
        const int32_t width = usmp_taps_of_phase(p->window_width, p->stride, across);
        const int32_t before = usmp_taps_before(p->window_height, p->stride_down, down) * p->window_width
                               + height * usmp_taps_before(p->window_width, p->stride, across);
        const int32_t *const of_phase = bias + (down * p->stride + across) * biases;

        for (int32_t c = blocks.first; c != blocks.end; c += blocks.step) {
            uint32_t sums[8];

            for (int32_t i = 0; i < 4; ++i) {
                sums[i] = (uint32_t)of_phase[c + i];
            }
            usmp_add_reaching_s8_scalar(
                p, rows, zeros, (p->window_height - 1) / p->stride_down, (x + p->before) / p->stride, height, width,
                weights + c * size + 4 * before * p->input_channels, sums);
            usmp_finish_s8_scalar(
                &scaling, sums, excess + c, shifts + c, p->output_channels - c, output + x * p->output_pitch + c, NULL);
        }
    }
}
