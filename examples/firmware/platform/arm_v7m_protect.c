/* PMSAv7: a region is a power of two of bytes on a multiple of itself.  Any of its eighths may be switched off:
 *
 *     |   pool as planned   |
 *     |  0  |  1  |  2  |  3  |  4  |  5  |  6  |  7  |
 *                             `--- switched off ------'
 */
#include "protect.h"

#define MPU_TYPE (*(const volatile uint32_t *)0xE000ED90)
#define MPU_CTRL (*(volatile uint32_t *)0xE000ED94)
#define MPU_RNR (*(volatile uint32_t *)0xE000ED98)
#define MPU_RBAR (*(volatile uint32_t *)0xE000ED9C)
#define MPU_RASR (*(volatile uint32_t *)0xE000EDA0)

enum { CTRL_ENABLE = 1, RASR_ENABLE = 1, RASR_NORMAL_CACHED = 0xB << 16 };

static const uint32_t rights[] = {
    [RO] = 0x16u << 24, /* never execute; read only */
    [RW] = 0x13u << 24, /* never execute */
    [RX] = 0x06u << 24, /* read only */
};

struct block {
    uintptr_t start;
    unsigned log2;
    uintptr_t granule;
};

/* The smallest power of two that holds all of a region. */
static struct block find_block(const struct region *region)
{
    const uintptr_t first = (uintptr_t)region->start;
    const uintptr_t last = (uintptr_t)region->end - 1;
    unsigned log2 = 5;

    while (log2 < 31 && first >> log2 != last >> log2) {
        ++log2;
    }
    /* Regions of less than 256 bytes have no eighths. */
    return (struct block){ first >> log2 << log2, log2, (uintptr_t)1 << (log2 < 8 ? log2 : log2 - 3) };
}

struct piece protect_piece(const struct region *region)
{
    const uintptr_t granule = find_block(region).granule;

    return (struct piece){ (uintptr_t)region->start & ~(granule - 1),
                           ((uintptr_t)region->end + granule - 1) & ~(granule - 1) };
}

size_t protect_limit(void)
{
    return MPU_TYPE >> 8 & 0xFF;
}

void protect_allow(size_t index, const struct region *region)
{
    const struct block block = find_block(region);
    const struct piece piece = protect_piece(region);
    uint32_t off = 0;

    for (unsigned i = 0; block.log2 >= 8 && i < 8; ++i) {
        const uintptr_t eighth = block.start + i * block.granule;
        off |= (uint32_t)(eighth < piece.start || eighth >= piece.end) << i;
    }
    MPU_RNR = index;
    MPU_RBAR = block.start;
    MPU_RASR = rights[region->access] | RASR_NORMAL_CACHED | off << 8 | (block.log2 - 1) << 1 | RASR_ENABLE;
}

/* Without the default map, what is in no region is a fault; but faults themselves are handled without protection. */
void protect_forbid_rest(void)
{
    MPU_CTRL = CTRL_ENABLE;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
}
