#include <string.h>

#include "pad.h"

/* Whether the line at this index of the four outer axes crosses the input. */
static inline int usmp_line_crosses_input(const int32_t *index, const int32_t *axes)
{
    for (int32_t axis = 0; axis < 4; ++axis) {
        const int32_t place = index[axis] - axes[3 * axis];
        if (place < 0 || place >= axes[3 * axis + 1]) {
            return 0;
        }
    }
    return 1;
}

/* Moves on to the next line; after the last one, to the first. */
static inline void usmp_next_line(int32_t *index, const int32_t *axes)
{
    for (int32_t axis = 3; axis >= 0; --axis) {
        const int32_t *const a = axes + 3 * axis;
        if (++index[axis] < a[0] + a[1] + a[2]) {
            return;
        }
        index[axis] = 0;
    }
}

/* Writes `value` `count` times and returns where it ended. */
static inline uint8_t *usmp_fill(uint8_t *to, const void *value, int32_t width, int32_t count)
{
    if (width == 1) {
        memset(to, *(const uint8_t *)value, (size_t)count);
        return to + count;
    }
    for (int32_t i = 0; i < count; ++i) {
        memcpy(to, value, (size_t)width);
        to += width;
    }
    return to;
}

void usmp_pad(
    const struct usmp_pad_parameters *p, const void *input, const void *value, const int32_t *axes,
    void *output)
{
    const int32_t before = axes[12];
    const int32_t size = axes[13];
    const int32_t behind = axes[14];
    const uint8_t *from = (const uint8_t *)input;
    uint8_t *to = (uint8_t *)output;
    int32_t index[4] = {0, 0, 0, 0};

    for (int32_t line = 0; line < p->lines; ++line) {
        if (usmp_line_crosses_input(index, axes)) {
            to = usmp_fill(to, value, p->width, before);
            memmove(to, from, (size_t)(size * p->width));
            from += size * p->width;
            to = usmp_fill(to + size * p->width, value, p->width, behind);
        } else {
            to = usmp_fill(to, value, p->width, before + size + behind);
        }
        usmp_next_line(index, axes);
    }
}
