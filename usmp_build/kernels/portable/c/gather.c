/* GATHER, GATHER_ND and EMBEDDING_LOOKUP: runs whose places come at run time; elements of any type.  An index that an
 * axis does not have is the nearest that it has: nothing else is ever read. */
#include "arithmetic.h"
#include "move.h"
#include "usmp.h"
#include "walk.h"

/* `count` runs of `size` bytes for each of the groups of a batch.  A place is `depth` indices into a group, which has
 * `group_size` bytes; groups of a batch have the same places. */
struct usmp_gather_parameters {
    int32_t batches;
    int32_t groups;
    int32_t count;
    int32_t depth;
    int32_t group_size;
    int32_t size;
    int32_t direction; /* 1 forward, -1 backward */
};

static inline int32_t usmp_gathered_place(const usmp_i32 *indices, const int32_t *axes, int32_t depth)
{
    int32_t place = 0;

    for (int32_t i = 0; i < depth; ++i) {
        place += usmp_clamp(indices[i], 0, axes[2 * i] - 1) * axes[2 * i + 1];
    }
    return place;
}

/* `axes` has two numbers for each index of a place: the size of its axis, and the bytes from one index to the next. */
void usmp_gather(
    const struct usmp_gather_parameters *p, const void *input, const usmp_i32 *indices, const int32_t *axes,
    void *output)
{
    const struct usmp_walk groups = usmp_walk_along(p->batches * p->groups, 1, p->direction);
    const struct usmp_walk runs = usmp_walk_along(p->count, 1, p->direction);

    for (int32_t group = groups.first; group != groups.end; group += groups.step) {
        const uint8_t *const from = (const uint8_t *)input + group * p->group_size;
        const usmp_i32 *const places = indices + group / p->groups * p->count * p->depth;
        uint8_t *const to = (uint8_t *)output + group * p->count * p->size;

        for (int32_t i = runs.first; i != runs.end; i += runs.step) {
            const int32_t place = usmp_gathered_place(places + i * p->depth, axes, p->depth);

            usmp_move_run(from + place, p->size, to + i * p->size);
        }
    }
}
