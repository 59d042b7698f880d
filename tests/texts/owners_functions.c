#include <stdio.h>
#include "m.h"
#include "p.h"

void m_spread(const int8_t *from, usmp_i16 *to)
{
    for (int i = 0; i < 4; ++i) {
        to[i] = (int16_t)(1000 * from[i]);
    }
}

void m_add(const usmp_i16 *from, const usmp_i16 *more, usmp_i16 *to)
{
    for (int i = 0; i < 4; ++i) {
        to[i] = (int16_t)(from[i] + more[i]);
    }
}

USMP_ALIGNED(P_SRAM_ALIGNMENT) static uint8_t sram[P_SRAM_SIZE];
USMP_ALIGNED(P_FLASH_ALIGNMENT) static const uint8_t flash[] = {
#include "p_flash.inc"
};

int main(void)
{
    const struct m_workspace_pools workspace = { sram };
    const struct m_constant_pools constants = { flash };

    for (int i = 0; i < 4; ++i) {
        m_map_inputs(&workspace).x[i] = (int8_t)i;
    }
    if (m_run(&workspace, &constants) != USMP_OK) {
        return 1;
    }
    for (int i = 0; i < 4; ++i) {
        printf("%d ", m_map_outputs(&workspace).y[i]);
    }
    return 0;
}
