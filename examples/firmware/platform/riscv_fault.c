#include "fault.h"

_Noreturn void riscv_fault(uintptr_t cause, uintptr_t value, uintptr_t pc);

/* `cause`, `value` and `pc` are mcause, mtval and mepc. */
_Noreturn void riscv_fault(uintptr_t cause, uintptr_t value, uintptr_t pc)
{
    switch (cause) {
    case 1:
        fault_report("execute at", value, pc);
    case 2:
        fault_report("undefined instruction at", pc, pc);
    case 4:
        fault_report("misaligned read from", value, pc);
    case 5:
        fault_report("read from", value, pc);
    case 6:
        fault_report("misaligned write to", value, pc);
    case 7:
        fault_report("write to", value, pc);
    default:
        fault_report("failure at", pc, pc);
    }
}
