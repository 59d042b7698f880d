/* RESIZE_BILINEAR of integers. */
#include "resize.h"
#include "walk.h"

/* Row y of the output is at y * row_scale + row_offset of the input, in units of 1/1024 of a row; so are columns. */
struct usmp_resize_bilinear_parameters {
    int32_t lines;
    int32_t input_height;
    int32_t input_width;
    int32_t output_height;
    int32_t output_width;
    int32_t channels;
    int32_t row_scale;
    int32_t row_offset;
    int32_t column_scale;
    int32_t column_offset;
    int32_t direction; /* 1 forward, -1 backward */
};

/* A row that is `fraction` / 1024 of the way from the row above it to the one below it. */
static inline void usmp_bilinear_line_s8(
    const struct usmp_resize_bilinear_parameters *p, const int8_t *above, const int8_t *below,
    int32_t fraction, int8_t *to)
{
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk channels = usmp_walk_along(p->channels, 1, p->direction);

    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        const int32_t place = x * p->column_scale + p->column_offset;
        const int32_t right_part = place & 1023;
        const int32_t left = usmp_inside(place >> 10, p->input_width) * p->channels;
        const int32_t right = usmp_inside((place >> 10) + 1, p->input_width) * p->channels;

        for (int32_t c = channels.first; c != channels.end; c += channels.step) {
            const int32_t high = above[left + c] * (1024 - right_part) + above[right + c] * right_part;
            const int32_t low = below[left + c] * (1024 - right_part) + below[right + c] * right_part;

            to[x * p->channels + c] = (int8_t)usmp_blended_s8(high, low, fraction);
        }
    }
}

void usmp_resize_bilinear_s8(
    const struct usmp_resize_bilinear_parameters *p, const int8_t *input, int8_t *output)
{
    const struct usmp_walk lines = usmp_walk_along(p->lines, 1, p->direction);
    const int32_t row_size = p->input_width * p->channels;

    for (int32_t line = lines.first; line != lines.end; line += lines.step) {
        const int8_t *const image = input + line / p->output_height * p->input_height * row_size;
        const int32_t place = line % p->output_height * p->row_scale + p->row_offset;
        const int32_t above = usmp_inside(place >> 10, p->input_height);
        const int32_t below = usmp_inside((place >> 10) + 1, p->input_height);

        usmp_bilinear_line_s8(
            p, image + above * row_size, image + below * row_size, place & 1023,
            output + line * p->output_width * p->channels);
    }
}

/* Output row y from the input rows above and below it; one of them may be NULL. */
void usmp_resize_bilinear_s8_row(
    const struct usmp_resize_bilinear_parameters *p, const int8_t *const *rows, int32_t y, int8_t *output)
{
    const int8_t *const above = rows[0] == NULL ? rows[1] : rows[0];
    const int8_t *const below = rows[1] == NULL ? rows[0] : rows[1];

    usmp_bilinear_line_s8(p, above, below, (y * p->row_scale + p->row_offset) & 1023, output);
}
