#include <inttypes.h>
#include <stdio.h>

#include "usmp_regions.h"

static void print(const struct usmp_mpu_region mpu)
{
    printf("%" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", mpu.base, mpu.attributes, mpu.first, mpu.last);
}

int main(void)
{
    uint64_t start, end;
    unsigned access;

    while (scanf("%" SCNu64 " %" SCNu64 " %u", &start, &end, &access) == 3) {
        const struct usmp_region region = {
            "", (enum usmp_access)access, (const uint8_t *)(uintptr_t)start, (const uint8_t *)(uintptr_t)end };

        print(usmp_pmsav7(&region, 0x0B));
        print(usmp_pmsav8(&region, 5));
    }
    return 0;
}
