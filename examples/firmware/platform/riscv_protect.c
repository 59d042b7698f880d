/* Physical memory protection: 16 entries.  Two make a region of whole words: where it starts, and where it ends.
 *
 *     entry    0      1      2      3        ...     14      15
 *           | code start-end | RAM start-end | pools ... | the rest |
 *
 * Machine mode, which all of this runs in, obeys entries that are locked, and the first one that fits wins.
 */
#include "protect.h"

enum { GRANULE = 4, ENTRIES = 16, READ = 1, WRITE = 2, EXECUTE = 4, TO_HERE = 1 << 3, ALL = 3 << 3, LOCKED = 1 << 7 };

static uintptr_t addresses[ENTRIES];
static union {
    uint8_t entry[ENTRIES];
    uint32_t words[ENTRIES / 4];
} settings;

static const uint8_t rights[] = { [USMP_RO] = READ, [USMP_RW] = READ | WRITE, [USMP_RX] = READ | EXECUTE };

struct piece protect_piece(const struct usmp_region *region)
{
    return (struct piece){ (uintptr_t)region->start & ~(uintptr_t)(GRANULE - 1),
                           ((uintptr_t)region->end + GRANULE - 1) & ~(uintptr_t)(GRANULE - 1) };
}

/* A processor may have fewer entries, or none: they read as zero whatever is written. */
size_t protect_limit(void)
{
    uintptr_t last;

    __asm__ volatile("csrw pmpaddr14, %1\n\tcsrr %0, pmpaddr14" : "=r"(last) : "r"(1 << 20));
    return last != 0 ? ENTRIES / 2 - 1 : 0;
}

void protect_allow(size_t index, const struct usmp_region *region)
{
    const struct piece piece = protect_piece(region);

    addresses[2 * index] = piece.start >> 2;
    addresses[2 * index + 1] = piece.end >> 2;
    settings.entry[2 * index + 1] = (uint8_t)(LOCKED | TO_HERE | rights[region->access]);
}

#define SET(csr, value) __asm__ volatile("csrw " csr ", %0" ::"r"(value) : "memory")

/* Addresses go first: they cannot be changed any more when their entries are locked. */
void protect_forbid_rest(void)
{
    addresses[15] = UINTPTR_MAX;
    settings.entry[15] = LOCKED | ALL;
    SET("pmpaddr0", addresses[0]);
    SET("pmpaddr1", addresses[1]);
    SET("pmpaddr2", addresses[2]);
    SET("pmpaddr3", addresses[3]);
    SET("pmpaddr4", addresses[4]);
    SET("pmpaddr5", addresses[5]);
    SET("pmpaddr6", addresses[6]);
    SET("pmpaddr7", addresses[7]);
    SET("pmpaddr8", addresses[8]);
    SET("pmpaddr9", addresses[9]);
    SET("pmpaddr10", addresses[10]);
    SET("pmpaddr11", addresses[11]);
    SET("pmpaddr12", addresses[12]);
    SET("pmpaddr13", addresses[13]);
    SET("pmpaddr15", addresses[15]);
    SET("pmpcfg0", settings.words[0]);
    SET("pmpcfg1", settings.words[1]);
    SET("pmpcfg2", settings.words[2]);
    SET("pmpcfg3", settings.words[3]);
}
