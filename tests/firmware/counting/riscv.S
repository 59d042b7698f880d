# As arm.S, for RISC-V.  The functions are written without pseudo-instructions that could become two.
    .text

    .macro  function name
    .global \name
    .type   \name, @function
\name:
    .endm

    .macro  address register, value
    lui     \register, %hi(\value)
    addi    \register, \register, %lo(\value)
    .endm

    .macro  run functions:vararg
    .irp    name, \functions
    jal     \name
    jal     hook
    .endr
    .endm

    .macro  semihost                    # on one page, and uncompressed
    .option push
    .option norvc
    slli    zero, zero, 0x1f
    ebreak
    srai    zero, zero, 7
    .option pop
    .endm

function reset
    la      sp, DATA + 0x1000
    la      t0, skip_trap
    csrw    mtvec, t0
    jal     begin
    run     loop, sizes, multiple, border, beyond, exclusive, atomic, fault, semihosting
    j       done
function hook
    ret
function begin
    ret
function done
    li      a0, 0x18                    # SYS_EXIT
    li      a1, 0x20026                 # ADP_Stopped_ApplicationExit
    semihost
function end_of_caller

function loop
    li      a0, 3
1:  addi    a0, a0, -1
    bnez    a0, 1b
    ret

function sizes
    address a1, DATA
    lw      a0, 0(a1)
    lhu     a0, 4(a1)
    lb      a0, 6(a1)
    sw      a0, 8(a1)
    sh      a0, 12(a1)
    sb      a0, 14(a1)
    ret

function multiple
    addi    sp, sp, -16
    sw      ra, 12(sp)
    sw      s0, 8(sp)
    lw      s0, 8(sp)
    lw      ra, 12(sp)
    addi    sp, sp, 16
    ret

function border                         # two bytes on each side
    address a1, DATA + 0xfe
    lw      a0, 0(a1)
    sw      a0, 0(a1)
    ret

function beyond                         # one byte in `far`, three outside; then four outside
    address a1, DATA + 0x1ff
function beyond_load
    lw      a0, 0(a1)
function beyond_store
    sw      a0, 5(a1)
    ret

function exclusive
    address a1, DATA
    lr.w    a0, (a1)
    sc.w    a2, a0, (a1)
    ret

function atomic
    address a1, DATA
    amoadd.w a0, a0, (a1)
    ret

function fault
    address a1, UNMAPPED
    .option push
    .option norvc
    lw      a0, 0(a1)
    .option pop
    ret
    .balign 4                           # mtvec keeps a mode in the lower two bits
function skip_trap
    csrr    t0, mepc
    addi    t0, t0, 4
    csrw    mepc, t0
    mret

function semihosting
    li      a0, 0x04                    # SYS_WRITE0: QEMU reads the text
    address a1, text
    semihost
    ret
text:
    .asciz  "counted\n"
