/* regions.h - every piece of memory that the program may use */
#ifndef REGIONS_H
#define REGIONS_H

#include <stddef.h>

#include "usmp_regions.h"

/* The program's code and RAM, then the pools of the plan. */
extern const struct usmp_region regions[];
extern const size_t region_count;
extern const struct usmp_region *const first_pool;

#endif
