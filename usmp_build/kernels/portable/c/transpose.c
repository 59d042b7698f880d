#include "move.h"
#include "transpose.h"
#include "walk.h"

/* One output row from the input rows that have a part of it. */
void usmp_transpose_row(const struct usmp_transpose_parameters *p, const void *const *rows, void *output)
{
    const int32_t *const n = p->extents;
    const struct usmp_walk outer = usmp_walk_along(n[0] * n[1], 1, p->direction);
    const struct usmp_walk lines = usmp_walk_along(n[2], 1, p->direction);
    const struct usmp_walk runs = usmp_walk_along(n[3], 1, p->direction);

    for (int32_t i = outer.first; i != outer.end; i += outer.step) {
        const int32_t row = i / n[1] * p->rows[0] + i % n[1] * p->rows[1];
        const int32_t start = i / n[1] * p->steps[0] + i % n[1] * p->steps[1];

        for (int32_t j = lines.first; j != lines.end; j += lines.step) {
            uint8_t *const to = (uint8_t *)output + (i * n[2] + j) * n[3] * p->size;

            for (int32_t k = runs.first; k != runs.end; k += runs.step) {
                const uint8_t *const from = (const uint8_t *)rows[row + j * p->rows[2] + k * p->rows[3]];

                usmp_move_run(from + start + j * p->steps[2] + k * p->steps[3], p->size, to + k * p->size);
            }
        }
    }
}
