/* DEPTH_TO_SPACE: the channels of a pixel are the pixels of a block; elements of any type. */
#include "move.h"
#include "usmp.h"
#include "walk.h"

/* An input row has `width` pixels of blocks of `block` lines, of `line` bytes each. */
struct usmp_depth_to_space_parameters {
    int32_t width;
    int32_t block;
    int32_t line;
    int32_t direction; /* 1 forward, -1 backward */
};

/* One output row: one line of each block of an input row. */
void usmp_depth_to_space_row(
    const struct usmp_depth_to_space_parameters *p, const void *const *rows, int32_t row, void *output)
{
    const struct usmp_walk pixels = usmp_walk_along(p->width, 1, p->direction);
    const uint8_t *const from = (const uint8_t *)rows[0] + row % p->block * p->line;

    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        usmp_move_run(from + x * p->block * p->line, p->line, (uint8_t *)output + x * p->line);
    }
}
