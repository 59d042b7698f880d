#include "fault.h"

#include <stdbool.h>

#include "host.h"
#include "regions.h"

extern const uint8_t __stack_start[]; /* the stack is the lowest of RAM */

/* Farther away than this, an address has nothing to do with a region. */
enum { NEAR = 64 * 1024 };

static bool holds(const struct usmp_region *region, uintptr_t address)
{
    return address >= (uintptr_t)region->start && address < (uintptr_t)region->end;
}

/* How far an address is before a region, or past its end. */
static uintptr_t gap(const struct usmp_region *region, uintptr_t address)
{
    const uintptr_t start = (uintptr_t)region->start;

    return address < start ? start - address : address - (uintptr_t)region->end;
}

/* The region that holds an address, or else the nearest one. */
static const struct usmp_region *find(uintptr_t address)
{
    const struct usmp_region *nearest = regions;

    for (const struct usmp_region *region = regions; region < regions + region_count; ++region) {
        if (holds(region, address)) {
            return region;
        }
        if (gap(region, address) < gap(nearest, address)) {
            nearest = region;
        }
    }
    return nearest;
}

static void print_distance(uintptr_t bytes, const char *where, const char *name)
{
    host_print_number((unsigned)bytes);
    host_print(bytes == 1 ? " byte " : " bytes ");
    host_print(where);
    host_print(name);
}

static void print_place(uintptr_t address)
{
    static const char *const rights[] = {
        [USMP_RO] = ", which is read only",
        [USMP_RW] = ", which is no code",
        [USMP_RX] = ", which is code",
    };
    const uintptr_t stack = (uintptr_t)__stack_start;
    const struct usmp_region *region = find(address);

    if (holds(region, address)) {
        print_distance(address - (uintptr_t)region->start, "into ", region->name);
        host_print(rights[region->access]);
    } else if (gap(region, address) >= NEAR) {
        host_print("in no pool, and near none");
    } else if (address >= (uintptr_t)region->end) {
        print_distance(gap(region, address), "past the end of ", region->name);
    } else if ((uintptr_t)region->start == stack) {
        print_distance(stack - address, "below the stack: it overflowed", "");
    } else {
        print_distance(gap(region, address), "before ", region->name);
    }
}

_Noreturn void fault_report(const char *what, uintptr_t address, uintptr_t pc)
{
    host_print("fault: ");
    host_print(what);
    host_print(" ");
    host_print_address(address);
    host_print(": ");
    print_place(address);
    host_print(" (pc ");
    if (pc != 0) {
        host_print_address(pc);
    } else {
        host_print("unknown");
    }
    host_print(")\n");
    host_exit(FAULT_EXIT_CODE);
}
