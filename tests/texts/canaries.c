#include <stdio.h>
#include "digits.h"
#include "odd_even.h"
#include "two.h"
#include "two_guard.h"

static void write_at(long index)
{
    volatile uint8_t *const byte = (volatile uint8_t *)((uintptr_t)two_sram_pool + (uintptr_t)index);
    const uint8_t before = *byte;
    const char *overrun;

    *byte ^= 1;
    overrun = two_check_canaries();
    printf("%s\n", overrun ? overrun : "-");
    *byte = before;
}

int main(void)
{
    const long size = TWO_SRAM_SIZE;

    two_set_canaries();
    printf("%d %d ", (int)digits_run(), (int)odd_even_run());
    printf("%s %u\n", two_check_canaries() ? "!" : "-", (unsigned)((uintptr_t)two_sram_pool % TWO_SRAM_ALIGNMENT));
    write_at(0);
    write_at(size - 1);
    write_at(-1);
    write_at(-64);
    write_at(size);
    write_at(size + 15);
    return 0;
}
