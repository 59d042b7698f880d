@ Functions whose instructions and accesses are known, called one after the other, each followed by the hook.
@ DATA is where a RAM begins, UNMAPPED where something readable ends and nothing follows.  ../test_plugin.py says what
@ they count.
    .syntax unified
    .thumb
    .text

    .word   DATA + 0x1000               @ the vector table: the stack's end, reset, NMI, faults, ..., SVC
    .word   reset + 1
    .word   0
    .word   skip_faulting_load + 1
    .fill   7, 4, 0
    .word   nothing + 1

    .macro  function name
    .global \name
    .type   \name, %function
\name:
    .endm

    .macro  address register, value
    movw    \register, #:lower16:(\value)
    movt    \register, #:upper16:(\value)
    .endm

    .macro  run functions:vararg
    .irp    name, \functions
    bl      \name
    bl      hook
    .endr
    .endm

function reset
#ifdef __ARM_FEATURE_MVE
    address r0, 0xE000ED88              @ CPACR: floating point and vectors are allowed
    mov     r1, #0xF00000
    str     r1, [r0]
    dsb
    isb
#endif
    bl      begin
    run     loop, condition, sizes, pairs, multiple, border, beyond, exclusive, service, fault, torn, semihosting, kinds
#ifdef __ARM_FEATURE_MVE
    run     vectors, narrow, predicated, gathered, interleaved, torn_vector, floats, low_overhead, float_service
    run     float_kinds
#endif
    b       done
function hook
    bx      lr
function begin
    bx      lr
function done
    address r1, 0x20026                 @ ADP_Stopped_ApplicationExit
    mov     r0, #0x18                   @ SYS_EXIT
    bkpt    0xab
function end_of_caller

function loop
    mov     r0, #3
1:  subs    r0, #1
    bne     1b
    bx      lr

function condition                      @ both accesses are skipped
    address r1, DATA
    cmp     r1, r1
    itt     ne
    ldrne   r0, [r1]
    strne   r0, [r1]
    bx      lr

function sizes
    address r1, DATA
    ldr     r0, [r1]
    ldrh    r0, [r1, #4]
    ldrsb   r0, [r1, #6]
    str     r0, [r1, #8]
    strh    r0, [r1, #12]
    strb    r0, [r1, #14]
    ldr     r0, constant
    bx      lr
    .balign 4
constant:
    .word   1

function pairs
    address r1, DATA
    ldrd    r2, r3, [r1]
    strd    r2, r3, [r1, #0x100]
    bx      lr

function multiple
    push    {r4-r7, lr}
    address r0, DATA
    ldm     r0!, {r1-r5}
    add     r0, #0x100
    stm     r0, {r1-r3}
    pop     {r4-r7, pc}

function border                         @ two bytes on each side
    address r1, DATA + 0xfe
    ldr     r0, [r1]
    str     r0, [r1]
    bx      lr

function beyond                         @ one byte in `far`, three outside; then four outside
    address r1, DATA + 0x1ff
function beyond_load
    ldr     r0, [r1]
function beyond_store
    str     r0, [r1, #5]
    bx      lr

function exclusive
    address r1, DATA
    ldrex   r0, [r1]
    strex   r2, r0, [r1]
    bx      lr

function service
    svc     0
    bx      lr
function nothing
    bx      lr

function fault
    address r1, UNMAPPED
    ldr.w   r0, [r1]
    bx      lr
function torn                           @ two words, then the fault
    address r1, UNMAPPED - 8
    ldm.w   r1, {r2-r5}
    bx      lr
function skip_faulting_load             @ of four bytes
    ldr     r0, [sp, #24]
    adds    r0, #4
    str     r0, [sp, #24]
    bx      lr

function semihosting
    mov     r0, #0x04                   @ SYS_WRITE0: QEMU reads the text
    address r1, text
    bkpt    0xab
    mov     r0, #0x15                   @ SYS_GET_CMDLINE: QEMU reads the block and writes the buffer
    address r1, block
    bkpt    0xab
    bx      lr
    .balign 4
block:
    .word   DATA, 0x100
text:
    .asciz  "counted\n"
    .balign 4

function kinds
    mov     r0, #1
    udiv    r1, r0, r0
    sdiv    r1, r0, r0
    muls    r1, r0
    mla     r1, r0, r0, r1
    smull   r1, r2, r0, r0
    bx      lr

#ifdef __ARM_FEATURE_MVE
function vectors
    address r1, DATA
    vldrw.32 q0, [r1]
    vldrb.8 q1, [r1, #16]
    vstrw.32 q0, [r1, #0x80]
    vstrh.16 q1, [r1, #0xfe]
    bx      lr
function narrow
    address r1, DATA
    vldrb.s32 q0, [r1]
    vldrb.s16 q0, [r1]
    vstrb.32 q0, [r1, #0x10]
    bx      lr
function predicated
    address r1, DATA
    mov     r0, #5
    vctp.8  r0
    vpstt
    vldrbt.8 q0, [r1]
    vstrbt.8 q0, [r1, #0x10]
    bx      lr
function gathered
    address r1, DATA
    vmov.i32 q1, #0
    vldrb.s32 q0, [r1, q1]
    vldrw.32 q0, [r1, q1]
    vstrh.32 q0, [r1, q1]
    bx      lr
function interleaved
    address r1, DATA
    vld20.8 {q0, q1}, [r1]
    vld21.8 {q0, q1}, [r1]
    vst40.16 {q0, q1, q2, q3}, [r1]
    vst41.16 {q0, q1, q2, q3}, [r1]
    vst42.16 {q0, q1, q2, q3}, [r1]
    vst43.16 {q0, q1, q2, q3}, [r1]
    bx      lr
function torn_vector
    address r1, UNMAPPED - 8
    vldrw.32 q0, [r1]
    bx      lr
function floats
    address r1, DATA
    vldm    r1, {d0-d3}
    vldr    s0, [r1]
    vldr    d0, [r1]
    vstm    r1, {s0-s2}
    vpush   {d8}
    vpop    {d8}
    bx      lr
function low_overhead
    address r1, DATA
    push    {r4, lr}
    mov     r2, #20
    dlstp.8 lr, r2
1:  vldrb.8 q0, [r1], #16
    letp    lr, 1b
    pop     {r4, pc}
function float_service                  @ the exception stacks floats, too
    vmov.f32 s0, s0
    svc     0
    bx      lr
function float_kinds
    vmov.f32 s0, #1.0
    vdiv.f32 s1, s0, s0
    vsqrt.f32 s1, s0
    vmla.f32 s1, s0, s0
    vfma.f32 s1, s0, s0
    vfnms.f32 s1, s0, s0
    vadd.f32 s1, s0, s0
    bx      lr
#endif
