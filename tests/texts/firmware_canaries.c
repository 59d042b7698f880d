#include "digits.h"
#include "firmware.h"
#include "firmware_guard.h"
#include "host.h"
#include "odd_even.h"

static void report(void)
{
    const char *const overrun = firmware_check_canaries();

    host_print(overrun ? overrun : "nothing");
    host_print("\n");
}

static void write_at(uintptr_t address)
{
    volatile uint8_t *const byte = (volatile uint8_t *)address;
    const uint8_t before = *byte;

    *byte ^= 0x80;
    report();
    *byte = before;
}

int main(void)
{
    firmware_set_canaries();
    if (digits_run() != USMP_OK || odd_even_run() != USMP_OK) {
        return 1;
    }
    report();
    write_at((uintptr_t)firmware_sram_pool - 1);
    write_at((uintptr_t)firmware_sram_pool + FIRMWARE_SRAM_SIZE);
    return 0;
}
