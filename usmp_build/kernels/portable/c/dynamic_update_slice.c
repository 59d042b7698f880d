/* DYNAMIC_UPDATE_SLICE: a tensor with a part of it exchanged; elements of any type. */
#include <string.h>

#include "part.h"
#include "usmp.h"
#include "walk.h"

/* `whole` is the bytes of the tensor.  The part has `lines` along its innermost axis, of `line_size` bytes. */
struct usmp_dynamic_update_slice_parameters {
    int32_t whole;
    int32_t lines;
    int32_t line_size;
    int32_t axes;
    int32_t direction; /* 1 forward, -1 backward */
};

/* `axes` has three numbers for each axis, the innermost last: the size of the tensor, that of the part, and the bytes
 * from one index to the next.  A part that would begin or end outside of the tensor is moved inside. */
void usmp_dynamic_update_slice_s32(
    const struct usmp_dynamic_update_slice_parameters *p, const void *input, const void *update,
    const usmp_i32 *starts, const int32_t *axes, void *output)
{
    const struct usmp_walk lines = usmp_walk_along(p->lines, 1, p->direction);
    uint8_t *const part = (uint8_t *)output + usmp_start_of_part_s32(starts, axes, p->axes);

    memmove(output, input, (size_t)p->whole);
    for (int32_t line = lines.first; line != lines.end; line += lines.step) {
        const uint8_t *const from = (const uint8_t *)update + line * p->line_size;

        memmove(part + usmp_line_of_part(axes, p->axes, line), from, (size_t)p->line_size);
    }
}
