#include <string.h>
#include "p.h"
#include "sums.h"

USMP_ALIGNED(P_RAM_ALIGNMENT) static uint8_t one[P_RAM_SIZE], other[P_RAM_SIZE];

static int8_t run(uint8_t *ram)
{
    const struct sums_workspace_pools pools = { ram };

    memset(sums_map_inputs(&pools).x, 5, SUMS_X_SIZE);
    return sums_run(&pools) == USMP_OK ? sums_map_outputs(&pools).sum1_after[0] : -128;
}

int main(void)
{
    const struct sums_workspace_pools first = { one }, second = { other }, missing = { NULL };
    int8_t begin, later;

    if (sums_reset(NULL) != USMP_NULL || sums_reset(&missing) != USMP_NULL) {
        return 1;
    }
    if (sums_reset(&first) != USMP_OK || sums_reset(&second) != USMP_OK) {
        return 2;
    }
    begin = run(one);
    later = run(one);
    if (begin == later || run(other) != begin || sums_reset(&first) != USMP_OK) {
        return 3;
    }
    return run(one) == begin && run(other) == later ? 0 : 4;
}
