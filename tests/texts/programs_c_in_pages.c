#include <stdio.h>
#include "p.h"

void p_spread(const uint8_t *x, usmp_i16 *const *y)
{
    for (int i = 0; i < 32; ++i) {
        y[i / 8][i % 8] = (int16_t)(100 * x[i]);
    }
}

void p_gather(const usmp_i16 *const *x, usmp_i32 *y)
{
    usmp_i32 *const *sums = p_gather_map_buffers().sums;

    for (int row = 0; row < 4; ++row) {
        sums[row][0] = sums[row][1] = 0;
        for (int i = 0; i < 8; ++i) {
            sums[row][i % 2] += x[row][i];
        }
    }
    for (int row = 0; row < 4; ++row) {
        y[row] = sums[row][1] - sums[row][0];
    }
}

int main(void)
{
    uint8_t bytes[32];
    int32_t differences[4];
    const struct p_inputs inputs = { bytes };
    const struct p_outputs outputs = { differences };

    for (int i = 0; i < 32; ++i) {
        bytes[i] = (uint8_t)(i * (i % 2));
    }
    p_run(&inputs, &outputs);
    printf("%d %d %d %d", (int)differences[0], (int)differences[1], (int)differences[2], (int)differences[3]);
    return 0;
}
