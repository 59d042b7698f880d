#include "move.h"
#include "walk.h"

/* `axes` has three numbers for each axis along which lines lie, the innermost last: its size, and how many bytes one step
 * along it moves in the input and in the output.  Blocks move one after the other, each as by memmove. */
void usmp_move(
    const struct usmp_move_parameters *p, const void *input, const int32_t *axes, void *output)
{
    const struct usmp_walk lines = usmp_walk_along(p->lines, 1, p->direction);
    const struct usmp_walk blocks = usmp_walk_along(p->count, 1, p->direction);

    for (int32_t line = lines.first; line != lines.end; line += lines.step) {
        int32_t from = p->input_offset;
        int32_t to = p->output_offset;
        int32_t rest = line;

        for (int32_t axis = p->axes - 1; axis >= 0; --axis) {
            const int32_t size = axes[3 * axis];
            const int32_t index = rest % size;

            from += index * axes[3 * axis + 1];
            to += index * axes[3 * axis + 2];
            rest /= size;
        }
        for (int32_t i = blocks.first; i != blocks.end; i += blocks.step) {
            usmp_move_run(
                (const uint8_t *)input + from + i * p->input_step, p->size,
                (uint8_t *)output + to + i * p->output_step);
        }
    }
}
