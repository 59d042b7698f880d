/* SLICE of a part that begins where numbers say at run time; elements of any type. */
#include "move.h"
#include "part.h"
#include "usmp.h"
#include "walk.h"

/* The part has `lines` along its innermost axis, of `line_size` bytes. */
struct usmp_slice_parameters {
    int32_t lines;
    int32_t line_size;
    int32_t axes;
    int32_t direction; /* 1 forward, -1 backward */
};

/* `axes` has three numbers for each axis, the innermost last: the size of the tensor, that of the part, and the bytes
 * from one index to the next.  A part that would begin or end outside of the tensor is moved inside. */
void usmp_slice_s32(
    const struct usmp_slice_parameters *p, const void *input, const usmp_i32 *begins, const int32_t *axes,
    void *output)
{
    const struct usmp_walk lines = usmp_walk_along(p->lines, 1, p->direction);
    const uint8_t *const part = (const uint8_t *)input + usmp_start_of_part_s32(begins, axes, p->axes);

    for (int32_t line = lines.first; line != lines.end; line += lines.step) {
        const uint8_t *const from = part + usmp_line_of_part(axes, p->axes, line);

        usmp_move_run(from, p->line_size, (uint8_t *)output + line * p->line_size);
    }
}
