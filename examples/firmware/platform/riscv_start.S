/* Reset: a stack, what a C library keeps for the thread, where traps go. */
    .section .start, "ax"
    .global reset
reset:
    la sp, __stack_end
    la tp, __tls_start
    la t0, trap
    csrw mtvec, t0
    j start

/* Traps: the stack may be what is wrong, so take another one; there is no way back. */
    .section .text.trap, "ax"
    .balign 4
trap:
    la sp, __fault_stack_end
    csrr a0, mcause
    csrr a1, mtval
    csrr a2, mepc
    j riscv_fault
