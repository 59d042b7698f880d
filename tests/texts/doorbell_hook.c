#include <stddef.h>
#include <stdio.h>
void usmp_hook(const char *model, int step, int tensor, const void *data, size_t size);
void usmp_hook(const char *model, int step, int tensor, const void *data, size_t size)
{
    printf("%s: %d %d %d %zu\n", model, step, tensor, data != NULL, size);
}
void usmp_hook_row(const char *model, int step, int tensor, int row, const void *data, size_t size);
void usmp_hook_row(const char *model, int step, int tensor, int row, const void *data, size_t size)
{
    printf("%s: %d %d[%d] %d %zu\n", model, step, tensor, row, data != NULL, size);
}
