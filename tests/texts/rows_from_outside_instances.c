#include <stdio.h>
#include <string.h>
#include "net.h"
#include "p.h"

USMP_ALIGNED(P_RAM_ALIGNMENT) static uint8_t arenas[2][(P_RAM_SIZE + 63) / 64 * 64];
static int8_t masks[2][NET_T13_SIZE];

static void take_row(void *context, int32_t row, const int8_t *data)
{
    memcpy((int8_t *)context + row * NET_T13_ROW_SIZE, data, NET_T13_ROW_SIZE);
}

int main(void)
{
    static struct net_progress progress[2];

    for (int i = 0; i < 2; ++i) {
        const struct net_workspace_pools pools = { arenas[i] };
        const struct net_sink sink = { take_row, masks[i] };

        if (net_begin(&progress[i], &sink, &pools) != USMP_OK) {
            return 1;
        }
    }
    for (int y = 0; y < NET_T0_ROWS; ++y) {
        for (int i = 0; i < 2; ++i) {
            memset(net_next_row(&progress[i]), i == 0 || y % 3 != 0 ? y : -y, NET_T0_ROW_SIZE);
            if (net_push_row(&progress[i], NULL) != USMP_OK) {
                return 2;
            }
        }
    }
    if (net_end(&progress[0]) != USMP_OK || net_end(&progress[1]) != USMP_OK) {
        return 3;
    }
    fwrite(masks, 1, sizeof masks, stdout);
    return 0;
}
