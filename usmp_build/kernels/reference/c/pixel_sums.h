/* Sums over pixels, of each channel, with Arm's DSP extension where the compiler has it. */
#ifndef USMP_PIXEL_SUMS_H
#define USMP_PIXEL_SUMS_H

#include "dsp.h"
#include "usmp.h"

/* Adds the channels of a pixel, at least four, to their sums. */
static USMP_ASSEMBLY_OR_INLINE void usmp_add_pixel_s8(
    const int8_t *pixel USMP_UNUSED, int32_t channels USMP_UNUSED, usmp_i32 *sums USMP_UNUSED)
{
#if USMP_DSP
    __asm__ volatile(
        /* r0 pixel, r1 channels, r2 sums, r12 fours of channels; r3 inputs, r4 to r7 sums */
        "push    {r4-r7}\n\t"
        "lsr     r12, r1, #2\n\t"

        "1:\n\t" /* four channels */
        "ldr     r3, [r0], #4\n\t"
        "ldm     r2, {r4, r5, r6, r7}\n\t"
        "sxtab   r4, r4, r3\n\t"
        "sxtab   r5, r5, r3, ror #8\n\t"
        "sxtab   r6, r6, r3, ror #16\n\t"
        "sxtab   r7, r7, r3, ror #24\n\t"
        "stm     r2!, {r4, r5, r6, r7}\n\t"
        "subs    r12, r12, #1\n\t"
        "bne     1b\n\t"
        "ands    r1, r1, #3\n\t"
        "beq     3f\n\t"

        "2:\n\t" /* one channel */
        "ldrsb   r3, [r0], #1\n\t"
        "ldr     r4, [r2]\n\t"
        "add     r4, r4, r3\n\t"
        "str     r4, [r2], #4\n\t"
        "subs    r1, r1, #1\n\t"
        "bne     2b\n\t"

        "3:\n\t"
        "pop     {r4-r7}\n\t"
        "bx      lr\n\t");
#else
    for (int32_t c = 0; c < channels; ++c) {
        sums[c] += pixel[c];
    }
#endif
}

/* Adds the channels of a pixel, at least four, to their sums. */
static USMP_ASSEMBLY_OR_INLINE void usmp_add_pixel_s16(
    const usmp_i16 *pixel USMP_UNUSED, int32_t channels USMP_UNUSED, usmp_i32 *sums USMP_UNUSED)
{
#if USMP_DSP
    __asm__ volatile(
        /* r0 pixel, r1 channels, r2 sums, r12 fours of channels; r3 r8 inputs, r4 to r7 sums */
        "push    {r4-r8}\n\t"
        "lsr     r12, r1, #2\n\t"

        "1:\n\t" /* four channels */
        "ldr     r3, [r0], #4\n\t"
        "ldr     r8, [r0], #4\n\t"
        "ldm     r2, {r4, r5, r6, r7}\n\t"
        "sxtah   r4, r4, r3\n\t"
        "sxtah   r5, r5, r3, ror #16\n\t"
        "sxtah   r6, r6, r8\n\t"
        "sxtah   r7, r7, r8, ror #16\n\t"
        "stm     r2!, {r4, r5, r6, r7}\n\t"
        "subs    r12, r12, #1\n\t"
        "bne     1b\n\t"
        "ands    r1, r1, #3\n\t"
        "beq     3f\n\t"

        "2:\n\t" /* one channel */
        "ldrsh   r3, [r0], #2\n\t"
        "ldr     r4, [r2]\n\t"
        "add     r4, r4, r3\n\t"
        "str     r4, [r2], #4\n\t"
        "subs    r1, r1, #1\n\t"
        "bne     2b\n\t"

        "3:\n\t"
        "pop     {r4-r8}\n\t"
        "bx      lr\n\t");
#else
    for (int32_t c = 0; c < channels; ++c) {
        sums[c] += pixel[c];
    }
#endif
}

#endif
