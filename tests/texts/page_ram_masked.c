#include "vww.h"

static void write_line(void *screen, int32_t row, const int8_t *data, size_t size)
{
    (void)screen, (void)row, (void)data, (void)size;
}

SNIPPET

int main(void)
{
    return vww_run(&sink);
}
