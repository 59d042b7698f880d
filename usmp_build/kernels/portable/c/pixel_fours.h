/* Sums over pixels, of each channel: four channels at a time, whose sums stay in registers. */
#ifndef USMP_PIXEL_FOURS_H
#define USMP_PIXEL_FOURS_H

#include "dsp.h"
#include "mve.h"
#include "pixel_fours_mve.h"
#include "usmp.h"

/* Adds `count` neighbors, at least one, to the sums of their channels: of all whole fours, at least one. */
static USMP_ASSEMBLY_OR_INLINE void usmp_add_fours_s8(
    const int8_t *pixels USMP_UNUSED, int32_t count USMP_UNUSED, int32_t channels USMP_UNUSED,
    usmp_i32 *sums USMP_UNUSED)
{
#if USMP_MVE
#if USMP_S8
    __asm__ volatile(USMP_MVE_ADD_FOURS("vldrb.s32", "1"));
#else
    __asm__ volatile(USMP_MVE_ADD_FOURS("vldrh.s32", "2"));
#endif
#elif USMP_DSP
#if USMP_S8
    __asm__ volatile(
        /* r0 first pixel, r1 count, r2 channels, r3 sums, r12 fours; r4 pixel, r5 pixels left, r6 r7 inputs,
         * r8 to r11 sums.  Sums of up to 256 pixels are added up in halves of r8 and r9. */
        "push    {r4-r11}\n\t"
        "lsr     r12, r2, #2\n\t"
        "cmp     r1, #1\n\t"
        "beq     4f\n\t"
        "cmp     r1, #256\n\t"
        "bgt     4f\n\t"

        "1:\n\t" /* four channels */
        "mov     r4, r0\n\t"
        "mov     r8, #0\n\t"
        "mov     r9, #0\n\t"
        "lsrs    r5, r1, #1\n\t"
        "bcc     2f\n\t"
        "ldr     r6, [r4]\n\t"
        "add     r4, r4, r2\n\t"
        "sxtb16  r8, r6\n\t"
        "sxtb16  r9, r6, ror #8\n\t"

        "2:\n\t" /* two pixels */
        "ldr     r6, [r4]\n\t"
        "ldr     r7, [r4, r2]\n\t"
        "add     r4, r4, r2, lsl #1\n\t"
        "sxtab16 r8, r8, r6\n\t"
        "sxtab16 r9, r9, r6, ror #8\n\t"
        "sxtab16 r8, r8, r7\n\t"
        "sxtab16 r9, r9, r7, ror #8\n\t"
        "subs    r5, r5, #1\n\t"
        "bne     2b\n\t"
        "ldm     r3, {r4, r5, r6, r7}\n\t"
        "sxtah   r4, r4, r8\n\t"
        "sxtah   r5, r5, r9\n\t"
        "sxtah   r6, r6, r8, ror #16\n\t"
        "sxtah   r7, r7, r9, ror #16\n\t"
        "stm     r3!, {r4, r5, r6, r7}\n\t"
        "add     r0, r0, #4\n\t"
        "subs    r12, r12, #1\n\t"
        "bne     1b\n\t"

        "3:\n\t"
        "pop     {r4-r11}\n\t"
        "bx      lr\n\t"

        "4:\n\t" /* four channels of one pixel, or of more than 256 */
        "ldm     r3, {r8, r9, r10, r11}\n\t"
        "mov     r4, r0\n\t"
        "mov     r5, r1\n\t"

        "5:\n\t" /* a pixel */
        "ldr     r6, [r4]\n\t"
        "add     r4, r4, r2\n\t"
        "sxtab   r8, r8, r6\n\t"
        "sxtab   r9, r9, r6, ror #8\n\t"
        "sxtab   r10, r10, r6, ror #16\n\t"
        "sxtab   r11, r11, r6, ror #24\n\t"
        "subs    r5, r5, #1\n\t"
        "bne     5b\n\t"
        "stm     r3!, {r8, r9, r10, r11}\n\t"
        "add     r0, r0, #4\n\t"
        "subs    r12, r12, #1\n\t"
        "bne     4b\n\t"
        "b       3b\n\t");
#else
    __asm__ volatile(
        /* r0 first pixel, r1 count, r2 channels, r3 sums, r12 fours; r4 pixel, r5 pixels left, r6 r7 inputs,
         * r8 to r11 sums */
        "push    {r4-r11}\n\t"
        "lsr     r12, r2, #2\n\t"

        "1:\n\t" /* four channels */
        "ldm     r3, {r8, r9, r10, r11}\n\t"
        "mov     r4, r0\n\t"
        "mov     r5, r1\n\t"

        "2:\n\t" /* a pixel */
        "ldr     r6, [r4]\n\t"
        "ldr     r7, [r4, #4]\n\t"
        "add     r4, r4, r2, lsl #1\n\t"
        "sxtah   r8, r8, r6\n\t"
        "sxtah   r9, r9, r6, ror #16\n\t"
        "sxtah   r10, r10, r7\n\t"
        "sxtah   r11, r11, r7, ror #16\n\t"
        "subs    r5, r5, #1\n\t"
        "bne     2b\n\t"
        "stm     r3!, {r8, r9, r10, r11}\n\t"
        "add     r0, r0, #8\n\t"
        "subs    r12, r12, #1\n\t"
        "bne     1b\n\t"
        "pop     {r4-r11}\n\t"
        "bx      lr\n\t");
#endif
#else
    for (int32_t first = 0; first + 4 <= channels; first += 4) {
        const int8_t *pixel = pixels + first;
        int32_t a = sums[first];
        int32_t b = sums[first + 1];
        int32_t c = sums[first + 2];
        int32_t d = sums[first + 3];

        for (int32_t i = 0; i < count; ++i, pixel += channels) {
            a += pixel[0];
            b += pixel[1];
            c += pixel[2];
            d += pixel[3];
        }
        sums[first] = a;
        sums[first + 1] = b;
        sums[first + 2] = c;
        sums[first + 3] = d;
    }
#endif
}

#endif
