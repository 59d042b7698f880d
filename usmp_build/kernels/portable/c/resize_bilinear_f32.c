#include "resize.h"
#include "walk.h"

/* The pixel before a place, -1 for places before the first one's center. */
static inline int32_t usmp_pixel_before(float place)
{
    return place < 0.0f ? -1 : (int32_t)place;
}

/* A row that is `fraction` of the way from the row above it to the one below it. */
static inline void usmp_bilinear_line_f32(
    const struct usmp_resize_bilinear_f32_parameters *p, const usmp_f32 *above, const usmp_f32 *below,
    float fraction, usmp_f32 *to)
{
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk channels = usmp_walk_along(p->channels, 1, p->direction);

    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        const float place = ((float)x + p->center) * p->column_scale - p->center;
        const int32_t before = usmp_pixel_before(place);
        const float right_part = place - (float)before;
        const int32_t left = usmp_inside(before, p->input_width) * p->channels;
        const int32_t right = usmp_inside(before + 1, p->input_width) * p->channels;

        for (int32_t c = channels.first; c != channels.end; c += channels.step) {
            to[x * p->channels + c] = above[left + c] * (1.0f - fraction) * (1.0f - right_part)
                                      + below[left + c] * fraction * (1.0f - right_part)
                                      + above[right + c] * (1.0f - fraction) * right_part
                                      + below[right + c] * fraction * right_part;
        }
    }
}

void usmp_resize_bilinear_f32(
    const struct usmp_resize_bilinear_f32_parameters *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk lines = usmp_walk_along(p->lines, 1, p->direction);
    const int32_t row_size = p->input_width * p->channels;

    for (int32_t line = lines.first; line != lines.end; line += lines.step) {
        const usmp_f32 *const image = input + line / p->output_height * p->input_height * row_size;
        const float place = ((float)(line % p->output_height) + p->center) * p->row_scale - p->center;
        const int32_t before = usmp_pixel_before(place);
        const int32_t above = usmp_inside(before, p->input_height);
        const int32_t below = usmp_inside(before + 1, p->input_height);

        usmp_bilinear_line_f32(
            p, image + above * row_size, image + below * row_size, place - (float)before,
            output + line * p->output_width * p->channels);
    }
}

/* Output row y from the rows on both sides of it, of which one may be missing. */
void usmp_resize_bilinear_f32_row(
    const struct usmp_resize_bilinear_f32_parameters *p, const usmp_f32 *const *rows, int32_t y,
    usmp_f32 *output)
{
    const usmp_f32 *const above = rows[0] == NULL ? rows[1] : rows[0];
    const usmp_f32 *const below = rows[1] == NULL ? rows[0] : rows[1];
    const float place = ((float)y + p->center) * p->row_scale - p->center;

    usmp_bilinear_line_f32(p, above, below, place - (float)usmp_pixel_before(place), output);
}
