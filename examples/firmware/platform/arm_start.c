#include "start.h"

#include <stdint.h>

#define CPACR (*(volatile uint32_t *)0xE000ED88)

extern uint8_t __stack_end[];
void hard_fault(void);
void reset(void);

/* The stack is there already: it comes from the vectors. */
void reset(void)
{
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
    CPACR |= 0xFu << 20; /* coprocessors 10 and 11: floating point and vectors */
    __asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
    start();
}

struct vectors {
    uint8_t *stack;
    void (*reset)(void);
    void (*nmi)(void);
    void (*hard_fault)(void);
};

/* Nothing enables interrupts or the finer faults, so every fault is a hard fault. */
__attribute__((section(".start"), used)) static const struct vectors vectors = {
    __stack_end,
    reset,
    hard_fault,
    hard_fault,
};
