/* SPACE_TO_BATCH_ND: each pixel of a block goes to an image of its own; elements of any type. */
#include "fill.h"
#include "move.h"
#include "usmp.h"
#include "walk.h"

/* Images of `height` by `width` pixels come from images in a border, which begins `above` and `left` of them and has
 * pixels of one value.  `size` is the bytes of an element. */
struct usmp_space_to_batch_parameters {
    int32_t images;
    int32_t input_height;
    int32_t input_width;
    int32_t block_height;
    int32_t block_width;
    int32_t above;
    int32_t left;
    int32_t height;
    int32_t width;
    int32_t channels;
    int32_t size;
    int32_t direction; /* 1 forward, -1 backward */
};

/* Returns where a pixel of the output comes from, counted in pixels; -1 for one of the border. */
static inline int32_t usmp_pixel_in_space(const struct usmp_space_to_batch_parameters *p, int32_t line, int32_t x)
{
    const int32_t image = line / p->height;
    const int32_t place = image / p->images; /* in a block */
    const int32_t row = line % p->height * p->block_height + place / p->block_width - p->above;
    const int32_t column = x * p->block_width + place % p->block_width - p->left;

    if (row < 0 || row >= p->input_height || column < 0 || column >= p->input_width) {
        return -1;
    }
    return (image % p->images * p->input_height + row) * p->input_width + column;
}

void usmp_space_to_batch(
    const struct usmp_space_to_batch_parameters *p, const void *input, const void *value, void *output)
{
    const int32_t pixel = p->channels * p->size;
    const int32_t all = p->block_height * p->block_width * p->images * p->height;
    const struct usmp_walk lines = usmp_walk_along(all, 1, p->direction);
    const struct usmp_walk pixels = usmp_walk_along(p->width, 1, p->direction);

    for (int32_t line = lines.first; line != lines.end; line += lines.step) {
        for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
            uint8_t *const to = (uint8_t *)output + (line * p->width + x) * pixel;
            const int32_t from = usmp_pixel_in_space(p, line, x);

            if (from < 0) {
                usmp_repeat(to, value, p->size, p->channels);
            } else {
                usmp_move_run((const uint8_t *)input + from * pixel, pixel, to);
            }
        }
    }
}
