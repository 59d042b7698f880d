#include "move.h"
#include "resize.h"
#include "walk.h"

static inline void usmp_nearest_line(
    const uint8_t *from, const int16_t *columns, int32_t width, int32_t size, int32_t direction, uint8_t *to)
{
    const struct usmp_walk pixels = usmp_walk_along(width, 1, direction);

    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        usmp_move_run(from + columns[x] * size, size, to + x * size);
    }
}

/* `columns` and `rows` have the nearest column for each of the output, and the nearest row. */
void usmp_resize_nearest(
    const struct usmp_resize_nearest_parameters *p, const void *input, const int16_t *columns,
    const int16_t *rows, void *output)
{
    const struct usmp_walk lines = usmp_walk_along(p->lines, 1, p->direction);

    for (int32_t line = lines.first; line != lines.end; line += lines.step) {
        const int32_t row = line / p->output_height * p->input_height + rows[line % p->output_height];

        usmp_nearest_line(
            (const uint8_t *)input + row * p->input_width * p->size, columns, p->output_width, p->size,
            p->direction, (uint8_t *)output + line * p->output_width * p->size);
    }
}

/* One output row from the nearest row. */
void usmp_resize_nearest_row(
    const struct usmp_resize_nearest_row_parameters *p, const void *const *rows, const int16_t *columns,
    void *output)
{
    usmp_nearest_line(
        (const uint8_t *)rows[0], columns, p->output_width, p->size, p->direction, (uint8_t *)output);
}
