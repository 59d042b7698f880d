/* protect.h - memory protection: regions may be used as regions.h says, everything else is a fault */
#ifndef PROTECT_H
#define PROTECT_H

#include <stdbool.h>

#include "regions.h"

/* Switch it on.  If the processor cannot do it, say why, and return false. */
bool protect(void);

/* A processor protects pieces of certain sizes on certain boundaries.  Return the smallest one that holds a region. */
struct piece {
    uintptr_t start;
    uintptr_t end;
};
struct piece protect_piece(const struct usmp_region *region);

/* ---- what protect.c must be told of a processor ---- */

/* How many regions it can protect. */
size_t protect_limit(void);

/* Let the region be used; it is the `index`th one. */
void protect_allow(size_t index, const struct usmp_region *region);

/* From now on, forbid the rest. */
void protect_forbid_rest(void);

#endif
