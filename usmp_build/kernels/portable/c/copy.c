#include "copy.h"
#include "move.h"
#include "walk.h"

/* Blocks move one after the other, each as by memmove. */
void usmp_copy(const struct usmp_copy_parameters *p, const void *input, void *output)
{
    const uint8_t *const from = (const uint8_t *)input + p->input_offset;
    uint8_t *const to = (uint8_t *)output + p->output_offset;
    const struct usmp_walk walk = usmp_walk_along(p->count, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        usmp_move_run(from + i * p->input_pitch, p->size, to + i * p->output_pitch);
    }
}
