#include "fill.h"
#include "move_mve.h"
#include "pad.h"
#include "walk.h"

/* Returns which line of the input this line of the output crosses, -1 if none. */
static inline int32_t usmp_crossed_line(int32_t line, const int32_t *axes)
{
    int32_t crossed = 0;
    int32_t pitch = 1;

    for (int32_t axis = 3; axis >= 0; --axis) {
        const int32_t before = axes[3 * axis];
        const int32_t size = axes[3 * axis + 1];
        const int32_t whole = before + size + axes[3 * axis + 2];
        const int32_t place = line % whole - before;

        if (place < 0 || place >= size) {
            return -1;
        }
        crossed += place * pitch;
        pitch *= size;
        line /= whole;
    }
    return crossed;
}

static inline void usmp_pad_lines(
    const struct usmp_pad_parameters *p, const uint8_t *input, const void *value, const int32_t *axes,
    uint8_t *output)
{
    const int32_t before = axes[12];
    const int32_t size = axes[13];
    const int32_t after = axes[14];
    const int32_t whole = before + size + after;
    const struct usmp_walk lines = usmp_walk_along(p->lines, 1, p->direction);

    for (int32_t line = lines.first; line != lines.end; line += lines.step) {
        uint8_t *const to = output + line * whole * p->width;
        const int32_t crossed = usmp_crossed_line(line, axes);

        if (crossed < 0) {
            usmp_repeat(to, value, p->width, whole);
        } else {
            uint8_t *const inside = to + before * p->width;
            const uint8_t *const from = input + crossed * size * p->width;

            usmp_move_vectors(from, size * p->width, inside); /* first, for the frame may lie over the input */
            usmp_repeat(to, value, p->width, before);
            usmp_repeat(inside + size * p->width, value, p->width, after);
        }
    }
}

/* `axes` has three numbers for each of five axes, the innermost last: the elements of the frame before the input, of
 * the input, and of the frame after it. */
void usmp_pad(
    const struct usmp_pad_parameters *p, const void *input, const void *value, const int32_t *axes,
    void *output)
{
    usmp_pad_lines(p, (const uint8_t *)input, value, axes, (uint8_t *)output);
}

/* One row, of a frame where there is no input row.  `axes` are those of a row, as for `usmp_pad`. */
void usmp_pad_row(
    const struct usmp_pad_parameters *p, const void *const *rows, const void *value, const int32_t *axes,
    void *output)
{
    if (rows[0] != NULL) {
        usmp_pad_lines(p, (const uint8_t *)rows[0], value, axes, (uint8_t *)output);
    } else {
        usmp_repeat((uint8_t *)output, value, p->width, p->lines * (axes[12] + axes[13] + axes[14]));
    }
}
