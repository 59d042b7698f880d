/* regions.h - every piece of memory that the program may use */
#ifndef REGIONS_H
#define REGIONS_H

#include <stddef.h>
#include <stdint.h>

enum access {
    RO, /* read */
    RW, /* read and write */
    RX  /* read and execute */
};

struct region {
    const char *name;
    enum access access;
    const uint8_t *start;
    const uint8_t *end; /* the first byte behind it */
};

/* The program's code and RAM, then the pools of the plan. */
extern const struct region regions[];
extern const size_t region_count;
extern const struct region *const first_pool;

#endif
