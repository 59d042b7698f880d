/* A firmware without a C library. */
#include "digits.h"

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memset(void *to, int value, size_t size);
void _start(void);

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        ((volatile char *)to)[i] = ((const char *)from)[i];
    }
    return to;
}

void *memset(void *to, int value, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        ((volatile char *)to)[i] = (char)value;
    }
    return to;
}

void _start(void)
{
    for (;;) {
        (void)digits_run();
    }
}
