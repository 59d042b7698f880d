#include <stdio.h>
#include "net.h"
#include "other.h"

static struct net_progress progress;

static void said(int status)
{
    printf("%d ", status);
}

int main(void)
{
    said(net_begin(&progress));
    said(other_run());
    said(net_push_row(&progress, NULL));
    said(other_run());
    said(net_end(&progress));
    said(other_run());
    return 0;
}
