#include "protect.h"

#include "host.h"

static bool is_empty(const struct usmp_region *region)
{
    return region->start == region->end;
}

static bool meet(struct piece piece, const struct usmp_region *region)
{
    return !is_empty(region) && (uintptr_t)region->start < piece.end && piece.start < (uintptr_t)region->end;
}

/* What opens a region must not open bytes of another one. */
static bool stands_alone(const struct usmp_region *region)
{
    const struct piece piece = protect_piece(region);

    for (const struct usmp_region *other = regions; other < regions + region_count; ++other) {
        if (other != region && meet(piece, other)) {
            host_print("memory protection: what opens ");
            host_print(region->name);
            host_print(" would open ");
            host_print(other->name);
            host_print(", too; give pools a larger alignment in the manifest\n");
            return false;
        }
    }
    return true;
}

bool protect(void)
{
    const size_t limit = protect_limit();
    size_t count = 0;

    for (const struct usmp_region *region = regions; region < regions + region_count; ++region) {
        if (is_empty(region)) {
            continue;
        }
        if (count == limit) {
            host_print("memory protection: the plan has more pools than this processor has regions\n");
            return false;
        }
        if (!stands_alone(region)) {
            return false;
        }
        protect_allow(count++, region);
    }
    protect_forbid_rest();
    return true;
}
