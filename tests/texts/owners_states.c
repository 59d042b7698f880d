#include <stdio.h>
#include <string.h>
#include "p.h"
#include "stateful.h"

USMP_ALIGNED(P_SRAM_ALIGNMENT) static uint8_t sram[2][(P_SRAM_SIZE + 63) / 64 * 64];

static void step(int set)
{
    const struct stateful_workspace_pools workspace = { sram[set] };

    for (int i = 0; i < 8; ++i) {
        stateful_map_inputs(&workspace).signal[i] = (float)(i + 1);
    }
    printf("%d:", (int)stateful_run(&workspace));
    for (int i = 0; i < 8; ++i) {
        printf("%g,", (double)stateful_map_outputs(&workspace).output_0[i]);
    }
    printf(" ");
}

int main(void)
{
    for (int set = 0; set < 2; ++set) {
        const struct stateful_workspace_pools workspace = { sram[set] };

        memset(sram[set], 0xa5, sizeof sram[set]);
        printf("%d ", (int)stateful_reset(&workspace));
    }
    printf("%d ", (int)stateful_reset(NULL));
    step(0);
    step(0);
    step(1);
    step(1);
    return 0;
}
