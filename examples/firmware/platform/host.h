/* host.h - the computer that a board is plugged into, or that emulates it, by semihosting
 *
 * Arm and RISC-V define the same calls.  A debugger or QEMU must answer them: without one, they are faults.
 * Paths are relative to where the debugger or QEMU runs.
 */
#ifndef HOST_H
#define HOST_H

#include <stddef.h>
#include <stdint.h>

void host_print(const char *text);
void host_print_number(unsigned number);
void host_print_address(uintptr_t address);

enum host_mode { HOST_READ = 1, HOST_WRITE = 5 }; /* as fopen() has them: "rb", "wb" */

/* Return a handle, or -1. */
int host_open(const char *path, enum host_mode mode);

/* Return how many bytes were read or written. */
size_t host_read(int file, void *to, size_t size);
size_t host_write(int file, const void *from, size_t size);
void host_close(int file);

/* Fill `line` with the path of the program and what follows it; QEMU: -append "...".  Empty if that is too long. */
void host_command_line(char *line, size_t size);

/* End the program, and QEMU with this exit code. */
_Noreturn void host_exit(int code);

#endif
