/* SVDF's filters over time: the results of a filter move one place on, and their products with weights add up. */
#ifndef USMP_SVDF_TIMES_H
#define USMP_SVDF_TIMES_H

#include "arithmetic.h"
#include "dsp.h"
#include "usmp.h"

/* Writes four results, in r6, and adds their products with weights, less the zero point, in both halves of r3. */
#define USMP_DSP_FOUR_RESULTS \
    "ldr     r7, [r1], #4\n\t" \
    "str     r6, [r0], #4\n\t" \
    "sxtb16  r8, r6\n\t" \
    "sxtb16  r6, r6, ror #8\n\t" \
    "sxtb16  lr, r7\n\t" \
    "sxtb16  r7, r7, ror #8\n\t" \
    "ssub16  r8, r8, r3\n\t" \
    "ssub16  r6, r6, r3\n\t" \
    "smlad   r4, r8, lr, r4\n\t" \
    "smlad   r4, r6, r7, r4\n\t"

/* The first of `memory` results is the newest, and becomes the last one.  Returns the sum of what all of them, less
 * their zero point, make with their weights, and `sum`. */
static USMP_ASSEMBLY_OR_INLINE int32_t usmp_svdf_times_s8(
    int8_t *state USMP_UNUSED, const int8_t *weights USMP_UNUSED, int32_t memory USMP_UNUSED,
    int32_t zero_point USMP_UNUSED, int32_t sum USMP_UNUSED)
{
#if USMP_DSP
    __asm__ volatile(
        /* r0 state, r1 weights, r2 results left, r3 zero point, r4 sum, r5 the newest, r12 fours of others;
         * r6 r8 results, r7 lr weights */
        "push    {r4-r8, lr}\n\t"
        "ldr     r4, [sp, #24]\n\t"
        "ldrsb   r5, [r0]\n\t"
        "pkhbt   r3, r3, r3, lsl #16\n\t"
        "sub     r2, r2, #1\n\t"
        "lsrs    r12, r2, #2\n\t"
        "beq     2f\n\t"

        "1:\n\t" /* four others */
        "ldr     r6, [r0, #1]\n\t"
        USMP_DSP_FOUR_RESULTS
        "subs    r12, r12, #1\n\t"
        "bne     1b\n\t"

        "2:\n\t"
        "ands    r2, r2, #3\n\t"
        "beq     4f\n\t"
        "cmp     r2, #3\n\t"
        "bne     3f\n\t"
        "ldrh    r6, [r0, #1]\n\t" /* the last three and the newest */
        "ldrb    r7, [r0, #3]\n\t"
        "orr     r6, r6, r7, lsl #16\n\t"
        "orr     r6, r6, r5, lsl #24\n\t"
        USMP_DSP_FOUR_RESULTS
        "mov     r0, r4\n\t"
        "pop     {r4-r8, pc}\n\t"

        "3:\n\t" /* another one */
        "ldrsb   r6, [r0, #1]\n\t"
        "ldrsb   r7, [r1], #1\n\t"
        "strb    r6, [r0], #1\n\t"
        "ssub16  r6, r6, r3\n\t"
        "smlabb  r4, r6, r7, r4\n\t"
        "subs    r2, r2, #1\n\t"
        "bne     3b\n\t"

        "4:\n\t" /* the newest */
        "ldrsb   r7, [r1]\n\t"
        "strb    r5, [r0]\n\t"
        "ssub16  r5, r5, r3\n\t"
        "smlabb  r0, r5, r7, r4\n\t"
        "pop     {r4-r8, pc}\n\t");
#else
    const int8_t newest = state[0];

    for (int32_t i = 0; i + 1 < memory; ++i) {
        const int8_t later = state[i + 1];
        state[i] = later;
        sum = usmp_add(sum, (later - zero_point) * weights[i]);
    }
    state[memory - 1] = newest;
    return usmp_add(sum, (newest - zero_point) * weights[memory - 1]);
#endif
}

/* The same for results of int16, whose zero point is 0. */
static USMP_ASSEMBLY_OR_INLINE int32_t usmp_svdf_times_s16(
    usmp_i16 *state USMP_UNUSED, const int16_t *weights USMP_UNUSED, int32_t memory USMP_UNUSED,
    int32_t sum USMP_UNUSED)
{
#if USMP_DSP
    __asm__ volatile(
        /* r0 state, r1 weights, r2 others, r3 sum, r4 the newest, r12 pairs of others; r5 results, r6 weights */
        "push    {r4-r6, lr}\n\t"
        "ldrsh   r4, [r0]\n\t"
        "sub     r2, r2, #1\n\t"
        "lsrs    r12, r2, #1\n\t"
        "beq     2f\n\t"

        "1:\n\t" /* two others */
        "ldr     r5, [r0, #2]\n\t"
        "ldr     r6, [r1], #4\n\t"
        "str     r5, [r0], #4\n\t"
        "smlad   r3, r5, r6, r3\n\t"
        "subs    r12, r12, #1\n\t"
        "bne     1b\n\t"

        "2:\n\t"
        "lsls    r2, r2, #31\n\t"
        "beq     3f\n\t"
        "ldrh    r5, [r0, #2]\n\t" /* the last one and the newest */
        "ldr     r6, [r1]\n\t"
        "orr     r5, r5, r4, lsl #16\n\t"
        "str     r5, [r0]\n\t"
        "smlad   r0, r5, r6, r3\n\t"
        "pop     {r4-r6, pc}\n\t"

        "3:\n\t" /* the newest */
        "ldrsh   r6, [r1]\n\t"
        "strh    r4, [r0]\n\t"
        "smlabb  r0, r4, r6, r3\n\t"
        "pop     {r4-r6, pc}\n\t");
#else
    const int16_t newest = state[0];

    for (int32_t i = 0; i + 1 < memory; ++i) {
        const int16_t later = state[i + 1];
        state[i] = later;
        sum = usmp_add(sum, later * weights[i]);
    }
    state[memory - 1] = newest;
    return usmp_add(sum, newest * weights[memory - 1]);
#endif
}

#endif
