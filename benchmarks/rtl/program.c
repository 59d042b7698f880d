/* Runs a model once; ends each step with what the core has counted, and writes the outputs. */
#include "benchmark.h"

#define DEVICE ((volatile uint32_t *)0xF0000000u)

static void mark(int step)
{
    DEVICE[0] = (uint32_t)step;
}

void usmp_hook(const char *model, int step, int tensor, const void *data, size_t size)
{
    (void)model, (void)tensor, (void)data, (void)size;
    mark(step);
}

void usmp_hook_row(const char *model, int step, int tensor, int row, const void *data, size_t size)
{
    (void)model, (void)tensor, (void)row, (void)data, (void)size;
    mark(step);
}

void usmp_hook_rows(const char *model, int step, int tensor, const void *const *rows, size_t row, size_t size)
{
    (void)model, (void)tensor, (void)rows, (void)row, (void)size;
    mark(step);
}

void usmp_hook_pixels(
    const char *model, int step, int tensor, const void *data, size_t pixel, size_t pitch, size_t size)
{
    (void)model, (void)tensor, (void)data, (void)pixel, (void)pitch, (void)size;
    mark(step);
}

static void show(const void *data, size_t size)
{
    const uint8_t *const bytes = data;

    for (size_t i = 0; i < size; ++i) {
        DEVICE[1] = bytes[i];
    }
}

int main(void)
{
    bench_fill();
    mark(-1);
    const enum usmp_status status = model_run();
    mark(-1);
    bench_outputs(show);
    return status == USMP_OK ? 0 : 1;
}
