#include "host.h"

#include <string.h>

enum {
    SYS_OPEN = 0x01,
    SYS_CLOSE = 0x02,
    SYS_WRITE0 = 0x04,
    SYS_WRITE = 0x05,
    SYS_READ = 0x06,
    SYS_GET_CMDLINE = 0x15,
    SYS_EXIT_EXTENDED = 0x20
};

/* The operation is in the first register of arguments, a pointer to its block of arguments in the second. */
static intptr_t call(intptr_t operation, const void *arguments)
{
#if defined(__arm__)
    register intptr_t result __asm__("r0") = operation;
    register const void *block __asm__("r1") = arguments;
    __asm__ volatile("bkpt 0xab" : "+r"(result) : "r"(block) : "memory");
#elif defined(__riscv)
    /* These three instructions, not compressed and within one page, are the mark of a call. */
    register intptr_t result __asm__("a0") = operation;
    register const void *block __asm__("a1") = arguments;
    __asm__ volatile(".balign 16\n"
                     ".option push\n"
                     ".option norvc\n"
                     "slli zero, zero, 0x1f\n"
                     "ebreak\n"
                     "srai zero, zero, 7\n"
                     ".option pop"
                     : "+r"(result)
                     : "r"(block)
                     : "memory");
#endif
    return result;
}

void host_print(const char *text)
{
    (void)call(SYS_WRITE0, text);
}

void host_print_number(unsigned number)
{
    char text[12];
    char *digit = text + sizeof text - 1;

    *digit = '\0';
    do {
        *--digit = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    host_print(digit);
}

void host_print_address(uintptr_t address)
{
    char text[] = "0x00000000";

    for (int i = 9; i > 1; --i, address >>= 4) {
        text[i] = "0123456789abcdef"[address & 15];
    }
    host_print(text);
}

int host_open(const char *path, enum host_mode mode)
{
    const uintptr_t block[] = { (uintptr_t)path, (uintptr_t)mode, strlen(path) };

    return (int)call(SYS_OPEN, block);
}

/* Semihosting answers with the bytes *not* transferred. */
size_t host_read(int file, void *to, size_t size)
{
    const uintptr_t block[] = { (uintptr_t)file, (uintptr_t)to, size };

    return size - (size_t)call(SYS_READ, block);
}

size_t host_write(int file, const void *from, size_t size)
{
    const uintptr_t block[] = { (uintptr_t)file, (uintptr_t)from, size };

    return size - (size_t)call(SYS_WRITE, block);
}

void host_close(int file)
{
    const uintptr_t block[] = { (uintptr_t)file };

    (void)call(SYS_CLOSE, block);
}

void host_command_line(char *line, size_t size)
{
    uintptr_t block[] = { (uintptr_t)line, size };

    if (call(SYS_GET_CMDLINE, block) != 0) {
        line[0] = '\0';
    }
}

_Noreturn void host_exit(int code)
{
    const uintptr_t application_exit = 0x20026;
    const uintptr_t block[] = { application_exit, (uintptr_t)code };

    for (;;) {
        (void)call(SYS_EXIT_EXTENDED, block);
    }
}
