/* EMBEDDING_LOOKUP from int8 to float32.  An index that the table does not have is the nearest that it has. */
#include "arithmetic.h"
#include "usmp.h"
#include "walk.h"

/* `count` rows of `size` elements, of a table that has `rows`.  scale_step is 1 where each row of it has a scale of its
 * own, else 0. */
struct usmp_embedding_lookup_parameters {
    int32_t count;
    int32_t rows;
    int32_t size;
    int32_t scale_step;
    int32_t direction; /* 1 forward, -1 backward */
};

void usmp_embedding_lookup_s8_f32(
    const struct usmp_embedding_lookup_parameters *p, const int8_t *table, const usmp_i32 *indices,
    const float *scale, usmp_f32 *output)
{
    const struct usmp_walk rows = usmp_walk_along(p->count, 1, p->direction);
    const struct usmp_walk elements = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = rows.first; i != rows.end; i += rows.step) {
        const int32_t index = usmp_clamp(indices[i], 0, p->rows - 1);
        const int8_t *const row = table + index * p->size;
        const float factor = scale[index * p->scale_step];

        for (int32_t j = elements.first; j != elements.end; j += elements.step) {
            output[i * p->size + j] = (float)row[j] * factor;
        }
    }
}
