#include "regions.h"

#include "firmware.h"

extern const uint8_t __code_start[], __code_end[], __ram_start[], __ram_end[];

/* The plan knows names and access, the linker knows addresses. */
FIRMWARE_POOLS(USMP_POOL_SYMBOLS)

const struct usmp_region regions[] = {
    { "code", USMP_RX, __code_start, __code_end },
    { "RAM", USMP_RW, __ram_start, __ram_end },
    FIRMWARE_POOLS(USMP_POOL_REGION)
};
const size_t region_count = sizeof regions / sizeof regions[0];
const struct usmp_region *const first_pool = &regions[2];
