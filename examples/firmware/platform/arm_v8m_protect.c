/* PMSAv8: a region begins and ends on a multiple of 32 bytes. */
#include "protect.h"

#define MPU_TYPE (*(const volatile uint32_t *)0xE000ED90)
#define MPU_CTRL (*(volatile uint32_t *)0xE000ED94)
#define MPU_RNR (*(volatile uint32_t *)0xE000ED98)
#define MPU_RBAR (*(volatile uint32_t *)0xE000ED9C)
#define MPU_RLAR (*(volatile uint32_t *)0xE000EDA0)
#define MPU_MAIR0 (*(volatile uint32_t *)0xE000EDC0)

enum { GRANULE = 32, CTRL_ENABLE = 1, RLAR_ENABLE = 1, NORMAL_CACHED = 0xFF };

static const uint32_t rights[] = {
    [RO] = 7, /* read only, never execute */
    [RW] = 3, /* never execute */
    [RX] = 6, /* read only */
};

struct piece protect_piece(const struct region *region)
{
    return (struct piece){ (uintptr_t)region->start & ~(uintptr_t)(GRANULE - 1),
                           ((uintptr_t)region->end + GRANULE - 1) & ~(uintptr_t)(GRANULE - 1) };
}

size_t protect_limit(void)
{
    return MPU_TYPE >> 8 & 0xFF;
}

void protect_allow(size_t index, const struct region *region)
{
    const struct piece piece = protect_piece(region);

    MPU_RNR = index;
    MPU_RBAR = piece.start | rights[region->access];
    MPU_RLAR = (piece.end - GRANULE) | RLAR_ENABLE; /* memory of kind 0 of MAIR0 */
}

/* Without the default map, what is in no region is a fault; but faults themselves are handled without protection. */
void protect_forbid_rest(void)
{
    MPU_MAIR0 = NORMAL_CACHED;
    MPU_CTRL = CTRL_ENABLE;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
}
