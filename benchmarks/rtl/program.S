/* Where the core begins: a stack, variables, main(). */
.section .start, "ax"
.globl _start
_start:
    la      sp, __stack
    la      a0, __data
    la      a1, __data_image
    la      a2, __data_end
1:  bgeu    a0, a2, 2f
    lw      a3, 0(a1)
    sw      a3, 0(a0)
    addi    a0, a0, 4
    addi    a1, a1, 4
    j       1b
2:  la      a0, __bss
    la      a2, __bss_end
3:  bgeu    a0, a2, 4f
    sw      zero, 0(a0)
    addi    a0, a0, 4
    j       3b
4:  call    main
    li      a1, 0xF0000008
    sw      a0, 0(a1)
    j       .
