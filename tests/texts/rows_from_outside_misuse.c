#include <stdio.h>
#include "net.h"

static struct net_progress progress, other;

static void said(int status)
{
    printf("%d ", status);
}

int main(void)
{
    const int8_t row[NET_T0_ROW_SIZE] = { 0 };

    said(net_push_row(&progress, row));
    said(net_end(&progress));
    said(net_next_row(&progress) == NULL);
    said(net_begin(&progress));
    said(net_begin(&progress));
    said(net_begin(&other));
    for (int y = 0; y + 1 < NET_T0_ROWS; ++y) {
        if (net_push_row(&progress, y % 2 ? row : NULL) != USMP_OK) {
            return 1;
        }
    }
    said(net_end(&progress));
    said(net_end(&progress));
    said(net_begin(&progress));
    for (int y = 0; y < NET_T0_ROWS; ++y) {
        if (net_next_row(&progress) == NULL || net_push_row(&progress, row) != USMP_OK) {
            return 2;
        }
    }
    said(net_push_row(&progress, row));
    said(net_next_row(&progress) == NULL);
    said(net_end(&progress));
    said(net_begin(NULL));
    said(net_push_row(NULL, row));
    said(net_next_row(NULL) == NULL);
    said(net_end(NULL));
    return 0;
}
