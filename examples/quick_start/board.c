#include "board.h"

#include <string.h>

/* Operations of semihosting. */
enum { SYS_WRITE0 = 0x04, SYS_EXIT_EXTENDED = 0x20 };

#define CPACR (*(volatile uint32_t *)0xE000ED88)

extern uint8_t __data_load[], __data_start[], __data_end[], __bss_start[], __bss_end[], __stack_end[];
void reset(void);
void tick(void);

static void call_host(int operation, const void *argument)
{
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;

    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}

void print(const char *text)
{
    call_host(SYS_WRITE0, text);
}

void print_numbers(const int8_t *numbers, int count)
{
    for (int i = 0; i < count; ++i) {
        const int magnitude = numbers[i] < 0 ? -numbers[i] : numbers[i];
        const char text[] = {
            numbers[i] < 0 ? '-' : '+',
            (char)('0' + magnitude / 100),
            (char)('0' + magnitude / 10 % 10),
            (char)('0' + magnitude % 10),
            i + 1 < count ? ' ' : '\n',
            '\0',
        };

        print(text);
    }
}

static _Noreturn void leave(int code)
{
    static const uint32_t application_exit = 0x20026;
    const uint32_t reason[] = { application_exit, (uint32_t)code };

    for (;;) {
        call_host(SYS_EXIT_EXTENDED, reason);
    }
}

void reset(void)
{
    CPACR |= 0xFu << 20; /* floating point */
    __asm__ volatile("dsb\n\tisb" ::: "memory");
    memcpy(__data_start, __data_load, (size_t)(__data_end - __data_start));
    memset(__bss_start, 0, (size_t)(__bss_end - __bss_start));
    leave(main());
}

static void fault(void)
{
    print("fault\n");
    leave(70);
}

/* What the clock of the processor interrupts for, if an application defines it. */
__attribute__((weak)) void tick(void)
{
    fault();
}

struct vectors {
    uint8_t *stack;
    void (*handlers[15])(void);
};

/* Reset, NMI, and every fault; the last one is SysTick. */
__attribute__((section(".vectors"), used)) static const struct vectors vectors = {
    __stack_end,
    { reset, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, tick },
};
