/* Runs a model once on a board, and prints how many bytes of stack that touched.  Instructions are counted from the
 * entry of model_run() to that of bench_end(). */
#include "benchmark.h"
#include "host.h"

#define PAINT 0xA5C3F00Du

extern volatile uint32_t __stack_start[];

void bench_end(void);

__attribute__((noinline)) void bench_end(void)
{
    __asm__ volatile("" ::: "memory");
}

int main(void)
{
    volatile uint32_t *top;
    volatile uint32_t *lowest = __stack_start;

    bench_fill();
    __asm__ volatile("mov %0, sp" : "=r"(top));
    while (lowest < top) {
        *lowest++ = PAINT;
    }
    const enum usmp_status status = model_run();
    bench_end();
    for (lowest = __stack_start; lowest < top && *lowest == PAINT; ++lowest) {
    }
    host_print_number((unsigned)((uintptr_t)top - (uintptr_t)lowest));
    return status == USMP_OK ? 0 : 1;
}
