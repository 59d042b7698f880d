#include "fault.h"

#include <stdbool.h>
#include <stddef.h>

#define CFSR (*(volatile uint32_t *)0xE000ED28)
#define MMFAR (*(volatile uint32_t *)0xE000ED34)
#define BFAR (*(volatile uint32_t *)0xE000ED38)

/* Why, as CFSR has it: protection, bus, and use of an instruction. */
enum {
    IACCVIOL = 1 << 0,
    MSTKERR = 1 << 4,
    MMARVALID = 1 << 7,
    IBUSERR = 1 << 8,
    STKERR = 1 << 12,
    BFARVALID = 1 << 15,
    UNDEFINSTR = 1 << 16
};

extern const uint8_t __code_start[], __code_end[], __stack_start[], __stack_end[];

void hard_fault(void);
/* Only the assembly below calls it. */
__attribute__((used)) _Noreturn void arm_fault(const uint32_t *frame);

/* The stack may be what is wrong, so take another one; there is no way back. */
__attribute__((naked)) void hard_fault(void)
{
    __asm__("mov r0, sp\n\t"
            "ldr r1, =__fault_stack_end\n\t"
            "mov sp, r1\n\t"
            "b arm_fault");
}

static bool is_within(uintptr_t address, const uint8_t *start, const uint8_t *end)
{
    return address >= (uintptr_t)start && address < (uintptr_t)end;
}

/* The processor does not tell reading from writing, but the instruction does: in those of 32 bits and most of 16 one
 * bit is the direction. */
static const char *direction(uintptr_t pc)
{
    if (!is_within(pc, __code_start, __code_end)) {
        return "access to";
    }
    const uint32_t instruction = *(const uint16_t *)pc;
    bool reads = (instruction & 0x0800) != 0;
    if (instruction >= 0xE800) {
        reads = (instruction & 0x0010) != 0;
    } else if (instruction >> 12 == 5) { /* an index in a register: str strh strb ldrsb | ldr ldrh ldrb ldrsh */
        reads = (instruction & 0x0E00) > 0x0400;
    }
    return reads ? "read from" : "write to";
}

_Noreturn void arm_fault(const uint32_t *frame)
{
    enum { FRAME_PC = 6 };
    const uint32_t why = CFSR;
    const bool has_frame = (why & (MSTKERR | STKERR)) == 0 && is_within((uintptr_t)frame, __stack_start, __stack_end);
    const uintptr_t pc = has_frame ? frame[FRAME_PC] : 0;

    if ((why & (IACCVIOL | IBUSERR)) != 0) {
        fault_report("execute at", pc, pc);
    } else if ((why & MMARVALID) != 0) {
        fault_report(direction(pc), MMFAR, pc);
    } else if ((why & BFARVALID) != 0) {
        fault_report(direction(pc), BFAR, pc);
    } else if ((why & (MSTKERR | STKERR)) != 0) {
        fault_report("write to", (uintptr_t)frame, pc);
    } else if ((why & UNDEFINSTR) != 0) {
        fault_report("undefined instruction at", pc, pc);
    } else {
        fault_report("failure at", pc, pc);
    }
}
