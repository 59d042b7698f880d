#include "digits.h"
#include "host.h"

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

int main(void)
{
    const uint32_t count = REGISTER(0xE000ED90) >> 8 & 0xFF;

    host_print(REGISTER(0xE000ED94) == 1 ? "on, without the default map\n" : "off\n");
    for (uint32_t i = 0; i < count; ++i) {
        REGISTER(0xE000ED98) = i;
        host_print_address(REGISTER(0xE000ED9C));
        host_print(" ");
        host_print_address(REGISTER(0xE000EDA0));
        host_print("\n");
    }
    return (int)digits_run();
}
