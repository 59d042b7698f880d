/* DYNAMIC_UPDATE_SLICE: a tensor with a part of it exchanged; elements of any type.
 * Types: s32 usmp_i32, s64 usmp_i64. */
#include <string.h>

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
    const usmp_i32 *starts, const int32_t *axes, void *output);

/* Returns where the part begins, in bytes. */
static inline int32_t usmp_start_of_part_s32(const usmp_i32 *starts, const int32_t *axes, int32_t count)
{
    int32_t start = 0;

    for (int32_t axis = 0; axis < count; ++axis) {
        const int32_t last = axes[3 * axis] - axes[3 * axis + 1];
        const usmp_i32 first = starts[axis] < last ? starts[axis] : last;

        start += (first < 0 ? 0 : (int32_t)first) * axes[3 * axis + 2];
    }
    return start;
}

void usmp_dynamic_update_slice_s32(
    const struct usmp_dynamic_update_slice_parameters *p, const void *input, const void *update,
    const usmp_i32 *starts, const int32_t *axes, void *output)
{
    const struct usmp_walk lines = usmp_walk_along(p->lines, 1, p->direction);
    const int32_t start = usmp_start_of_part_s32(starts, axes, p->axes);

    memmove(output, input, (size_t)p->whole);
    for (int32_t line = lines.first; line != lines.end; line += lines.step) {
        int32_t to = start;
        int32_t rest = line;

        for (int32_t axis = p->axes - 2; axis >= 0; --axis) {
            to += rest % axes[3 * axis + 1] * axes[3 * axis + 2];
            rest /= axes[3 * axis + 1];
        }
        memmove(
            (uint8_t *)output + to, (const uint8_t *)update + line * p->line_size, (size_t)p->line_size);
    }
}
