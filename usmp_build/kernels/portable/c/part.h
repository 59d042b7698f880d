/* Parts of tensors that begin where numbers say at run time. */
#ifndef USMP_PART_H
#define USMP_PART_H

#include "usmp.h"

/* Returns where a part begins, in bytes.  `axes` has three numbers for each axis, the innermost last: the size of the
 * tensor, that of the part, and the bytes from one index to the next.  A part that would begin or end outside of the
 * tensor is moved inside. */
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

/* Returns where a line of a part is in the tensor, in bytes from where the part begins. */
static inline int32_t usmp_line_of_part(const int32_t *axes, int32_t count, int32_t line)
{
    int32_t place = 0;

    for (int32_t axis = count - 2; axis >= 0; --axis) {
        place += line % axes[3 * axis + 1] * axes[3 * axis + 2];
        line /= axes[3 * axis + 1];
    }
    return place;
}

#endif
