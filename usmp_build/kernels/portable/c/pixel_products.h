/* Products of a pixel with a filter for each channel, with Arm's DSP extension where the compiler has it. */
#ifndef USMP_PIXEL_PRODUCTS_H
#define USMP_PIXEL_PRODUCTS_H

#include "dsp.h"
#include "usmp.h"

/* Adds the channels of a pixel, at least four, less their zero point, times their weights to their sums. */
static USMP_ASSEMBLY_OR_INLINE void usmp_add_pixel_products_s8(
    const int8_t *pixel USMP_UNUSED, const int8_t *weights USMP_UNUSED, int32_t zero_point USMP_UNUSED,
    int32_t channels USMP_UNUSED, usmp_i32 *sums USMP_UNUSED)
{
#if USMP_DSP
    __asm__ volatile(
        /* r0 pixel, r1 weights, r2 the zero point twice, below 0, r3 channels, r12 sums, lr fours of channels */
        "push    {r4-r11, lr}\n\t"
        "ldr     r12, [sp, #36]\n\t"
        "rsb     r2, r2, #0\n\t"
        "pkhbt   r2, r2, r2, lsl #16\n\t"
        "lsr     lr, r3, #2\n\t"

        "1:\n\t" /* four channels */
        "ldr     r4, [r0], #4\n\t"
        "ldr     r5, [r1], #4\n\t"
        "ldm     r12, {r8, r9, r10, r11}\n\t"
        "sxtab16 r6, r2, r4\n\t"
        "sxtab16 r4, r2, r4, ror #8\n\t"
        "sxtb16  r7, r5\n\t"
        "sxtb16  r5, r5, ror #8\n\t"
        "smlabb  r8, r6, r7, r8\n\t"
        "smlabb  r9, r4, r5, r9\n\t"
        "smlatt  r10, r6, r7, r10\n\t"
        "smlatt  r11, r4, r5, r11\n\t"
        "stm     r12!, {r8, r9, r10, r11}\n\t"
        "subs    lr, lr, #1\n\t"
        "bne     1b\n\t"
        "ands    r3, r3, #3\n\t"
        "beq     3f\n\t"

        "2:\n\t" /* one channel */
        "ldrsb   r4, [r0], #1\n\t"
        "ldrsb   r5, [r1], #1\n\t"
        "ldr     r8, [r12]\n\t"
        "sxtah   r4, r4, r2\n\t"
        "mla     r8, r4, r5, r8\n\t"
        "str     r8, [r12], #4\n\t"
        "subs    r3, r3, #1\n\t"
        "bne     2b\n\t"

        "3:\n\t"
        "pop     {r4-r11, pc}\n\t");
#else
    for (int32_t c = 0; c < channels; ++c) {
        sums[c] += (pixel[c] - zero_point) * weights[c];
    }
#endif
}

#endif
