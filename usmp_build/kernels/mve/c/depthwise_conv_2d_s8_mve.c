/* DEPTHWISE_CONV_2D with Helium: one filter for each channel, and windows of at most 64 pixels; `packed` is laid out as
 * channels_mve.h says. */
#include "channels_mve.h"
#include "conv_2d.h"
#include "mve.h"
#include "taps.h"
#include "walk.h"

/* `size` channels at a time. */
static inline void usmp_depthwise_s8_mve(
    const struct usmp_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed,
    const int8_t *zeros, int32_t size,
    void (*make)(const struct usmp_pixels_mve *, const int8_t *const *, int32_t, int8_t *), int8_t *output)
{
    const int32_t height = p->window_height;
    const int32_t width = p->window_width;
    const int are_inside = usmp_are_all_inside_s8(rows, height);
    const struct usmp_walk across = usmp_walk_along(p->output_width, 1, p->direction);
    const int8_t *taps[64];
    struct usmp_pixels_mve pixels;
    const int32_t channel = usmp_describe_mve(p, packed, size, (height * width + 9) * size, &pixels);

    pixels.run = size;
    pixels.runs = height * width;
    for (int32_t x = across.first; x != across.end; x += pixels.count * across.step) {
        const int32_t start = x * p->stride - p->before;

        pixels.count = usmp_maximum(are_inside ? usmp_pixels_inside_mve(p, x) : 0, 1);
        usmp_find_taps_s8(rows, zeros, height, width, start, p->dilation, p->input_width, p->input_pitch, 1, taps);
        make(&pixels, taps, channel, output + x * p->output_pitch + channel);
    }
}

/* One output row from the input rows under the window, sixteen channels at a time; a row that is NULL is padding.
 * `zeros` is a pixel of the input's zero point; NULL if nothing is outside of the image. */
void usmp_depthwise_conv_2d_s8_mve_row(
    const struct usmp_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed,
    const int8_t *zeros, int8_t *output)
{
    usmp_depthwise_s8_mve(p, rows, packed, zeros, 16, usmp_sixteens_s8_mve, output);
}

/* The same, eight channels at a time. */
void usmp_depthwise_conv_2d_eights_s8_mve_row(
    const struct usmp_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed,
    const int8_t *zeros, int8_t *output)
{
    usmp_depthwise_s8_mve(p, rows, packed, zeros, 8, usmp_eights_s8_mve, output);
}
