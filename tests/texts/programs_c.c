#include <stdio.h>
#include <string.h>
#include "p.h"

int main(void)
{
    uint8_t bytes[16];
    int32_t sums[4];

    for (int i = 0; i < 16; ++i) {
        bytes[i] = (uint8_t)(17 * i);
    }
#ifdef IN_POOL
    memcpy(p_map_inputs().x, bytes, sizeof bytes);
    if (p_run() != USMP_OK) {
        return 1;
    }
    memcpy(sums, p_map_outputs().y, sizeof sums);
#else
    const struct p_inputs inputs = { bytes };
    const struct p_outputs outputs = { sums };
    if (p_run(&inputs, &outputs) != USMP_OK) {
        return 1;
    }
#endif
    printf("%d %d %d %d\n", (int)sums[0], (int)sums[1], (int)sums[2], (int)sums[3]);
    return 0;
}
