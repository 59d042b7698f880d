/* EMBEDDING_LOOKUP from int8 to float32.  An index that the table does not have is the nearest that it has. */
#include "arithmetic.h"
#include "usmp.h"
#include "walk.h"

/* `count` rows of `size` elements, of a table that has `rows`. */
struct usmp_embedding_lookup_parameters {
    int32_t count;
    int32_t rows;
    int32_t size;
    float scale;
    int32_t direction; /* 1 forward, -1 backward */
};

void usmp_embedding_lookup_s8_f32(
    const struct usmp_embedding_lookup_parameters *p, const int8_t *table, const usmp_i32 *indices,
    usmp_f32 *output);

void usmp_embedding_lookup_s8_f32(
    const struct usmp_embedding_lookup_parameters *p, const int8_t *table, const usmp_i32 *indices,
    usmp_f32 *output)
{
    const struct usmp_walk rows = usmp_walk_along(p->count, 1, p->direction);
    const struct usmp_walk elements = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = rows.first; i != rows.end; i += rows.step) {
        const int8_t *const row = table + usmp_clamp(indices[i], 0, p->rows - 1) * p->size;

        for (int32_t j = elements.first; j != elements.end; j += elements.step) {
            output[i * p->size + j] = (float)row[j] * p->scale;
        }
    }
}
