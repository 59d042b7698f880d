#include "pad.h"

/* Tells whether the line at `index`, along four axes, crosses the input, and moves on to the next line. */
static inline int usmp_line_crosses_input(int32_t *index, const int32_t *axes)
{
    int inside = 1;
    int carry = 1;

    for (int32_t axis = 3; axis >= 0; --axis) {
        const int32_t before = axes[3 * axis];
        const int32_t behind = before + axes[3 * axis + 1];

        inside &= index[axis] >= before && index[axis] < behind;
        index[axis] += carry;
        carry = index[axis] == behind + axes[3 * axis + 2];
        index[axis] = carry ? 0 : index[axis];
    }
    return inside;
}

void usmp_pad_8(const struct usmp_pad *p, const void *input, const int32_t *axes, void *output)
{
    const int8_t *from = (const int8_t *)input;
    int8_t *to = (int8_t *)output;
    int32_t index[4] = {0, 0, 0, 0};

    for (int32_t line = 0; line < p->lines; ++line) {
        const int32_t inside = usmp_line_crosses_input(index, axes) ? axes[13] : 0;
        const int32_t before = 
    }
}
