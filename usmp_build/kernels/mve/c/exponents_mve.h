/* Exponentials of four numbers at once, with Helium. */
#ifndef USMP_EXPONENTS_MVE_H
#define USMP_EXPONENTS_MVE_H

#include "mve.h"

/* The constants of `usmp_exp_of_negative`: e^(-1/8), 1/3, and the factors of bits of whole quarters. */
#define USMP_MVE_EXPONENT_CONSTANTS \
    ".balign 4\n\t" \
    "9:\n\t" \
    ".word 1895147668, 715827883, 1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242\n\t"

/* Loads them; r4 is the multiplier and r1 the lowest difference whose exponential is not 0. */
#define USMP_MVE_LOAD_EXPONENT_CONSTANTS \
    "adr            lr, 9f\n\t" \
    "ldr            r5, [lr], #4\n\t" \
    "vdup.32        q5, r5\n\t" \
    "ldm            lr, {r5-r12}\n\t"

/* Applies the factor of a bit where it is set in the number of whole quarters: where it is not set in x. */
#define USMP_MVE_QUARTERS(LEFT, FACTOR) \
    "vshl.i32       q0, q2, #" LEFT "\n\t" \
    "vpt.s32        ge, q0, zr\n\t" \
    "vqrdmulht.s32  q4, q4, " FACTOR "\n\t"

/* `usmp_exp_of_difference` of the int8 in q0 less q6, for the shift in q7, to q4; q0 to q3 are lost.  Below the lowest
 * difference it is that of the least int32: 0. */
#define USMP_MVE_EXPONENTIALS \
    "vsub.i32       q0, q0, q6\n\t" \
    "vshl.s32       q2, q0, q7\n\t" \
    "vqrdmulh.s32   q2, q2, r4\n\t" /* x */ \
    "vpt.s32        lt, q0, r1\n\t" \
    "vmovt.i32      q2, #0x80000000\n\t" \
    "vmov           q1, q2\n\t" \
    "vbic.i32       q1, #0xff000000\n\t" \
    "vmov.i32       q3, #0x10000000\n\t" \
    "vshl.i32       q1, q1, #5\n\t" \
    "vsub.i32       q1, q1, q3\n\t" /* y */ \
    "vqrdmulh.s32   q3, q1, q1\n\t" /* its powers */ \
    "vqrdmulh.s32   q0, q3, q1\n\t" \
    "vqrdmulh.s32   q4, q3, q3\n\t" \
    "vrshr.s32      q4, q4, #2\n\t" /* even powers are not below 0: halves go upwards */ \
    "vadd.i32       q4, q4, q0\n\t" \
    "vqrdmulh.s32   q4, q4, r5\n\t" \
    "vadd.i32       q4, q4, q3\n\t" \
    "vrshr.s32      q4, q4, #1\n\t" \
    "vadd.i32       q4, q4, q1\n\t" \
    "vqrdmulh.s32   q4, q4, q5\n\t" \
    "vadd.i32       q4, q4, q5\n\t" \
    USMP_MVE_QUARTERS("7", "r6") \
    USMP_MVE_QUARTERS("6", "r7") \
    USMP_MVE_QUARTERS("5", "r8") \
    USMP_MVE_QUARTERS("4", "r9") \
    USMP_MVE_QUARTERS("3", "r10") \
    USMP_MVE_QUARTERS("2", "r11") \
    USMP_MVE_QUARTERS("1", "r12") \
    "vpt.i32        eq, q2, zr\n\t" \
    "vmvnt.i32      q4, #0x80000000\n\t"

#endif
