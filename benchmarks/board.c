/* Runs a model once on a board, and prints how many bytes of stack that touched.  Instructions are counted from the
 * entry of model_run() to that of bench_end().  With USMP_HOOK they are counted up to each call of bench_step(), too, and
 * the operators that these calls were about are printed, one a line. */
#include "benchmark.h"
#include "host.h"

#define PAINT 0xA5C3F00Du

extern volatile uint32_t __stack_start[];

void bench_end(void);

__attribute__((noinline)) void bench_end(void)
{
    __asm__ volatile("" ::: "memory");
}

#ifdef USMP_HOOK
static int steps[BENCH_STEPS];
static unsigned count;

void bench_step(int step);

__attribute__((noinline)) void bench_step(int step)
{
    if (count < BENCH_STEPS) {
        steps[count] = step;
    }
    ++count;
}

void usmp_hook(const char *model, int step, int tensor, const void *data, size_t size)
{
    (void)model, (void)tensor, (void)data, (void)size;
    bench_step(step);
}

void usmp_hook_row(const char *model, int step, int tensor, int row, const void *data, size_t size)
{
    (void)model, (void)tensor, (void)row, (void)data, (void)size;
    bench_step(step);
}

void usmp_hook_rows(const char *model, int step, int tensor, const void *const *rows, size_t row, size_t size)
{
    (void)model, (void)tensor, (void)rows, (void)row, (void)size;
    bench_step(step);
}

void usmp_hook_pixels(
    const char *model, int step, int tensor, const void *data, size_t pixel, size_t pitch, size_t size)
{
    (void)model, (void)tensor, (void)data, (void)pixel, (void)pitch, (void)size;
    bench_step(step);
}
#endif

int main(void)
{
    register volatile uint32_t *sp __asm__("sp");
    volatile uint32_t *top;
    volatile uint32_t *lowest = __stack_start;

    bench_fill();
    __asm__ volatile("" : "=r"(top) : "0"(sp));
    while (lowest < top) {
        *lowest++ = PAINT;
    }
    const enum usmp_status status = model_run();
    bench_end();
    for (lowest = __stack_start; lowest < top && *lowest == PAINT; ++lowest) {
    }
    host_print_number((unsigned)((uintptr_t)top - (uintptr_t)lowest));
#ifdef USMP_HOOK
    for (unsigned i = 0; i < count && i < BENCH_STEPS; ++i) {
        host_print("\n");
        host_print_number((unsigned)steps[i]);
    }
#endif
    return status == USMP_OK ? 0 : 1;
}
