/* fault.h - say what went wrong, in words */
#ifndef FAULT_H
#define FAULT_H

#include <stdint.h>

enum { FAULT_EXIT_CODE = 70 };

/* Print "<what> <address>: <where that is> (pc <pc>)", and exit.  A pc of 0 is not known. */
_Noreturn void fault_report(const char *what, uintptr_t address, uintptr_t pc);

#endif
