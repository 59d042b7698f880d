/* PMSAv7, as usmp_regions.h computes it. */
#include "protect.h"

#define MPU_TYPE (*(const volatile uint32_t *)0xE000ED90)
#define MPU_CTRL (*(volatile uint32_t *)0xE000ED94)
#define MPU_RNR (*(volatile uint32_t *)0xE000ED98)
#define MPU_RBAR (*(volatile uint32_t *)0xE000ED9C)
#define MPU_RASR (*(volatile uint32_t *)0xE000EDA0)

enum { CTRL_ENABLE = 1, NORMAL_CACHED = 0xB };

struct piece protect_piece(const struct usmp_region *region)
{
    const struct usmp_mpu_region mpu = usmp_pmsav7(region, NORMAL_CACHED);

    return (struct piece){ mpu.first, (uintptr_t)mpu.last + 1 };
}

size_t protect_limit(void)
{
    return MPU_TYPE >> 8 & 0xFF;
}

void protect_allow(size_t index, const struct usmp_region *region)
{
    const struct usmp_mpu_region mpu = usmp_pmsav7(region, NORMAL_CACHED);

    MPU_RNR = index;
    MPU_RBAR = mpu.base;
    MPU_RASR = mpu.attributes;
}

/* Without the default map, what is in no region is a fault; but faults themselves are handled without protection. */
void protect_forbid_rest(void)
{
    MPU_CTRL = CTRL_ENABLE;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
}
