/* What runs before main() and after it, on a board whose debugger or emulator is the console. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CPACR (*(volatile uint32_t *)0xE000ED88)

struct copy {
    const uint32_t *from;
    uint32_t *to;
    uint32_t words;
};

extern const struct copy __copy_table_start[], __copy_table_end[];
extern uint8_t __bss_start[], __bss_end[], __stack_end[];

void initialise_monitor_handles(void); /* newlib's: printf() through semihosting */
int main(void);
void reset(void);
void fault(void);

void reset(void)
{
    CPACR |= 0xFu << 20; /* floating point and vectors */
    __asm__ volatile("dsb\n\tisb" ::: "memory");
    for (const struct copy *row = __copy_table_start; row < __copy_table_end; ++row) {
        memcpy(row->to, row->from, sizeof(uint32_t) * row->words);
    }
    memset(__bss_start, 0, (size_t)(__bss_end - __bss_start));
    initialise_monitor_handles();
    exit(main());
}

void fault(void)
{
    _Exit(70);
}

struct vectors {
    uint8_t *stack;
    void (*handlers[3])(void);
};

__attribute__((section(".start"), used)) static const struct vectors vectors = {
    __stack_end, { reset, fault, fault }
};
