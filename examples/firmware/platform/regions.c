#include "regions.h"

#include "firmware.h"

extern const uint8_t __code_start[], __code_end[], __ram_start[], __ram_end[];

/* The plan knows names and access, the linker knows addresses. */
#define POOL_SYMBOLS(name, access) extern const uint8_t __usmp_##name##_start[], __usmp_##name##_end[];
#define POOL_ROW(name, access) { "pool " #name, access, __usmp_##name##_start, __usmp_##name##_end },

FIRMWARE_POOLS(POOL_SYMBOLS)

const struct region regions[] = {
    { "code", RX, __code_start, __code_end },
    { "RAM", RW, __ram_start, __ram_end },
    FIRMWARE_POOLS(POOL_ROW)
};
const size_t region_count = sizeof regions / sizeof regions[0];
const struct region *const first_pool = &regions[2];
