/* Exponentials of a row of int8, relative to its largest element. */
#ifndef USMP_EXPONENT_SUMS_H
#define USMP_EXPONENT_SUMS_H

#include "arithmetic.h"
#include "exponential.h"
#include "exponents_mve.h"
#include "mve.h"

/* A difference of two inputs, Q5.26: the factor is as in usmp_scale, with a shift to the left. */
static inline int32_t usmp_exponent(int32_t difference, int32_t multiplier, int32_t shift)
{
    return usmp_multiply_high((int32_t)((uint32_t)difference << shift), multiplier);
}

/* e^x of a difference that is not above 0, Q0.31; 0 below -reach. */
static inline USMP_UNUSED int32_t usmp_exp_of_difference(
    int32_t difference, int32_t multiplier, int32_t shift, int32_t reach)
{
    return difference < -reach ? 0 : usmp_exp_of_negative(usmp_exponent(difference, multiplier, shift));
}

static USMP_MVE_OR_INLINE int32_t usmp_maximum_of_row(
    const int8_t *input USMP_UNUSED, int32_t size USMP_UNUSED)
{
#if USMP_MVE
    __asm__ volatile(
        /* r0 input, r1 size, r2 maximum */
        "push           {r4, lr}\n\t"
        "mvn            r2, #127\n\t"
        "wlstp.8        lr, r1, 2f\n\t"

        "1:\n\t" /* sixteen inputs */
        "vldrb.u8       q0, [r0], #16\n\t"
        "vmaxv.s8       r2, q0\n\t"
        "letp           lr, 1b\n\t"

        "2:\n\t"
        "mov            r0, r2\n\t"
        "pop            {r4, pc}\n\t");
#else
    int32_t maximum = INT8_MIN;

    for (int32_t i = 0; i < size; ++i) {
        maximum = input[i] > maximum ? input[i] : maximum;
    }
    return maximum;
#endif
}

/* Q12.19 */
static USMP_MVE_OR_INLINE uint32_t usmp_sum_of_exps(
    const int8_t *input USMP_UNUSED, int32_t size USMP_UNUSED, int32_t maximum USMP_UNUSED,
    int32_t multiplier USMP_UNUSED, int32_t shift USMP_UNUSED, int32_t reach USMP_UNUSED)
{
#if USMP_MVE
    __asm__ volatile(
        /* r0 input, r1 lowest difference, r2 sum, r3 size; all others as exponents_mve.h says */
        "push           {r4-r12, lr}\n\t"
        "vpush          {d8-d15}\n\t"
        "vdup.32        q6, r2\n\t"
        "mov            r4, r3\n\t"
        "mov            r3, r1\n\t"
        "ldrd           r2, r1, [sp, #104]\n\t"
        "vdup.32        q7, r2\n\t"
        "rsb            r1, r1, #0\n\t"
        "mov            r2, #0\n\t"
        USMP_MVE_LOAD_EXPONENT_CONSTANTS
        "wlstp.32       lr, r3, 2f\n\t"

        "1:\n\t" /* four inputs */
        "vldrb.s32      q0, [r0], #4\n\t"
        USMP_MVE_EXPONENTIALS
        "vrshr.s32      q4, q4, #12\n\t"
        "vaddva.u32     r2, q4\n\t"
        "letp           lr, 1b\n\t"

        "2:\n\t"
        "mov            r0, r2\n\t"
        "vpop           {d8-d15}\n\t"
        "pop            {r4-r12, pc}\n\t"
        USMP_MVE_EXPONENT_CONSTANTS);
#else
    uint32_t sum = 0;

    for (int32_t i = 0; i < size; ++i) {
        sum += (uint32_t)usmp_shift_right(usmp_exp_of_difference(input[i] - maximum, multiplier, shift, reach), 12);
    }
    return sum;
#endif
}

#endif
