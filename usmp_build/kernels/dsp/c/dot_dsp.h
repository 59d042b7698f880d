/* Sums of products of the bytes under a window with the filters of all outputs, with Arm's DSP extension. */
#ifndef USMP_DOT_DSP_H
#define USMP_DOT_DSP_H

#include "assembly.h"
#include "dsp.h"
#include "pixels_dsp.h"
#include "usmp.h"

/* The words of a block for pixels of `runs` runs. */
static inline int32_t usmp_block_s8_dsp(int32_t runs, int32_t bytes)
{
    return 4 + 4 * runs * ((bytes + 3) / 4) + 5;
}

/* Adds a word of input that is loaded to r3: 16 instructions, 64 bytes of code, for 16 products. */
#define USMP_DSP_WORD(LOAD) \
    "ldm.w  r1!, {r4, r5, r6, r8}\n\t" \
    LOAD "\n\t" \
    "sxtab16 r12, r7, r3\n\t" \
    "sxtab16 r3, r7, r3, ror #8\n\t" \
    "smlad  r9, r12, r4, r9\n\t" \
    "smlad  r9, r3, r5, r9\n\t" \
    "sxtb16 r4, r4\n\t" \
    "sxtb16 r5, r5\n\t" \
    "smlad  r10, r12, r4, r10\n\t" \
    "smlad  r10, r3, r5, r10\n\t" \
    "smlad  r11, r12, r6, r11\n\t" \
    "smlad  r11, r3, r8, r11\n\t" \
    "sxtb16 r6, r6\n\t" \
    "sxtb16 r8, r8\n\t" \
    "smlad  lr, r12, r6, lr\n\t" \
    "smlad  lr, r3, r8, lr\n\t"

/* The same for wide sums: 21 instructions. */
#define USMP_DSP_WIDE_WORD(LOAD) \
    "ldrd   r4, r5, [r1], #8\n\t" \
    LOAD "\n\t" \
    "sxtab16 r12, r7, r3\n\t" \
    "sxtab16 r3, r7, r3, ror #8\n\t" \
    "sxtb16 r6, r4, ror #8\n\t" \
    "smlad  r9, r12, r6, r9\n\t" \
    "sxtb16 r4, r4\n\t" \
    "smlad  r10, r12, r4, r10\n\t" \
    "sxtb16 r6, r5, ror #8\n\t" \
    "smlad  r9, r3, r6, r9\n\t" \
    "sxtb16 r5, r5\n\t" \
    "smlad  r10, r3, r5, r10\n\t" \
    "ldrd   r4, r5, [r1], #8\n\t" \
    "sxtb16 r6, r4, ror #8\n\t" \
    "smlad  r11, r12, r6, r11\n\t" \
    "sxtb16 r4, r4\n\t" \
    "smlad  lr, r12, r4, lr\n\t" \
    "sxtb16 r6, r5, ror #8\n\t" \
    "smlad  r11, r3, r6, r11\n\t" \
    "sxtb16 r5, r5\n\t" \
    "smlad  lr, r3, r5, lr\n\t"

/* Makes the outputs of all these blocks, four at a time; a, b, c, d are their filters.  `packed` has for each block
 *
 *     256 * A + B,  B,  256 * C + D,  D     sums to begin with: biases, with the input's zero point folded in
 *     for each word of input, bytes k to k + 3, four words; a lane of 16 bits holds two weights:
 *         256 * a[k + 2] + b[k + 2]  |  256 * a[k] + b[k]
 *         256 * a[k + 3] + b[k + 3]  |  256 * a[k + 1] + b[k + 1]
 *         the same of c and d
 *     multipliers of a, b, c, d, doubled, less 2^32
 *     right shifts less 1, a byte each, that of a in the lowest; or shifts of usmp_scaled_steep_s8_dsp
 *
 * SXTB16 of a word leaves b's weights; the word itself sums up 256 * A + B.  When all is added up, modulo 2^32,
 * A = ((256 * A + B) - B) / 256 is exact, since |A| < 2^23.  So each weight takes one byte, and half an unpacking.
 *
 * Where that is proven only for the part of A that each run adds, sums are divided: A, B, C, D to begin with, and the
 * parts of A and C are added up apart; all shifts are those of usmp_scaled_steep_s8_dsp.  Where weights do not allow it,
 * sums are wide: A, B, C, D to begin with, and a lane is a's byte beside b's.
 *
 * The input's zero point is folded into these biases, or taken off the input: then pixels outside of the image add
 * nothing, and their weights are left out.
 *
 * The last block may have fewer than four outputs: the others are made, and not written. */
static USMP_ASSEMBLY void usmp_dot_s8_dsp(struct usmp_pixels_s8_dsp *dot USMP_UNUSED)
{
#if USMP_DSP
    __asm__ volatile(
        /* r0 input, r1 packed, r2 loops, r3 r12 input bytes, r4 r5 r6 r8 weights, r9 r10 r11 lr sums; r7 dot, or, in a
         * run, its zero points */
        "push   {r0, r1, r4-r11, lr}\n\t"
        "mov    r7, r0\n\t"
        "adr    r3, 3f\n\t"
        "ldr    r2, [r7, %[skip]]\n\t"
        "adds   r3, r3, r2\n\t"
        "ldrd   r2, r4, [r7, %[is_wide]]\n\t" /* and is_special */
        "cbz    r2, 0f\n\t"
        "adr    r3, 7f\n\t"
        "ldr    r2, [r7, %[loops]]\n\t"
        "cbnz   r2, 0f\n\t"
        "adr    r3, 8f\n\t"
        "0:\n\t"
        "adds   r3, #1\n\t" /* an address of Thumb code */
        "str    r3, [r7, %[word_entry]]\n\t"
        "cbz    r4, 14f\n\t"
        "adr    r3, 13f\n\t"
        "adds   r3, #1\n\t"
        "14:\n\t"
        "ldrd   r2, r5, [r7, %[skip]]\n\t" /* and rest */
        "str    r3, [r7, %[run_entry]]\n\t"
        "ldr    r2, [r7, %[other_runs]]\n\t"
        "str    r5, [sp, #4]\n\t"
        "orrs   r2, r2, r4\n\t"
        "beq    18f\n\t"
        "adr    r3, 19f\n\t"
        "adds   r3, #1\n\t"
        "18:\n\t"
        "str    r3, [r7, %[entry]]\n\t"
        "ldr    r1, [r7, %[packed]]\n\t"

        "1:\n\t" /* a block of four outputs */
        "ldm    r1!, {r9, r10, r11, lr}\n\t"
        "ldm.w  r7, {r0, r2, r3, r7}\n\t" /* input, loops, entry and zero_points */
        "bx     r3\n\t"

        ".balign 4\n\t"
        "3:\n\t" /* a run */
        ".rept  4\n\t"
        USMP_DSP_WORD("ldr r3, [r0], #4")
        ".endr\n\t"
        "subs.w r2, r2, #1\n\t"
        "bne.w  3b\n\t"
        "ldr    r2, [sp, #4]\n\t" /* the last word of the run */
        USMP_DSP_WORD("ldr.w r3, [r0, r2]")
        "9:\n\t"
        "ldr    r7, [sp]\n\t"
        "ldr    r2, [r7, %[runs_left]]\n\t"
        "cbz    r2, 4f\n\t"
        "ldr    r3, [r7, %[runs]]\n\t" /* the next run */
        "subs   r2, #1\n\t"
        "str    r2, [r7, %[runs_left]]\n\t"
        "ldr    r0, [r3, r2, lsl #2]\n\t"
        "2:\n\t"
        "ldr    r2, [r7, %[loops]]\n\t"
        "ldr    r3, [r7, %[run_entry]]\n\t"
        "ldr    r7, [r7, %[zero_points]]\n\t"
        "bx     r3\n\t"

        "4:\n\t" /* the sums of a and c */
        "sub    r9, r9, r10\n\t"
        "sub    r11, r11, lr\n\t"
        "asr    r9, r9, #8\n\t"
        "asr    r11, r11, #8\n\t"

        "5:\n\t" /* sums become outputs */
        "ldm    r1!, {r2, r3, r4, r5, r6}\n\t"
        "ldrd   r8, r0, [r7, %[rounding]]\n\t" /* and flags */
        "tst    r6, #128\n\t"
        "bne.w  12f\n\t"
        "smmlar r9, r9, r2, r9\n\t"
        "smmlar r10, r10, r3, r10\n\t"
        "smmlar r11, r11, r4, r11\n\t"
        "smmlar lr, lr, r5, lr\n\t"
        "add    r9, r9, r9, asr #31\n\t"
        "add    r10, r10, r10, asr #31\n\t"
        "add    r11, r11, r11, asr #31\n\t"
        "add    lr, lr, lr, asr #31\n\t"
        "asr    r9, r9, r6\n\t" /* by the lowest byte */
        "lsrs   r6, r6, #8\n\t"
        "asr    r10, r10, r6\n\t"
        "lsrs   r6, r6, #8\n\t"
        "asr    r11, r11, r6\n\t"
        "lsrs   r6, r6, #8\n\t"
        "asr    lr, lr, r6\n\t"
        "11:\n\t"
        "add    r9, r9, r8\n\t"
        "add    r10, r10, r8\n\t"
        "add    r11, r11, r8\n\t"
        "add    lr, lr, r8\n\t"
        "ssat   r9, #8, r9, asr #1\n\t"
        "ssat   r10, #8, r10, asr #1\n\t"
        "ssat   r11, #8, r11, asr #1\n\t"
        "ssat   lr, #8, lr, asr #1\n\t"
        "bfi    r9, r10, #8, #8\n\t"
        "bfi    r9, r11, #16, #8\n\t"
        "bfi    r9, lr, #24, #8\n\t"
        "cbnz   r0, 15f\n\t"
        "6:\n\t"
        "ldrd   r2, r3, [r7, %[output]]\n\t" /* and step */
        "str    r9, [r2]\n\t"
        "16:\n\t"
        "add    r2, r2, r3\n\t"
        "str    r2, [r7, %[output]]\n\t"
        "ldrd   r2, r3, [r7, %[end]]\n\t" /* and back */
        "add    r1, r1, r3\n\t"
        "cmp    r1, r2\n\t"
        "bne.w  1b\n\t"
        "ldr    r0, [r7, %[pixels]]\n\t" /* the next pixel */
        "subs   r0, #1\n\t"
        "beq    10f\n\t"
        "str    r0, [r7, %[pixels]]\n\t"
        "ldrd   r2, r3, [r7, %[input_step]]\n\t" /* and output_step */
        "ldr    r0, [r7, %[input]]\n\t"
        "ldr    r4, [r7, %[output]]\n\t"
        "add    r0, r0, r2\n\t"
        "add    r4, r4, r3\n\t"
        "str    r0, [r7, %[input]]\n\t"
        "str    r4, [r7, %[output]]\n\t"
        "ldr    r1, [r7, %[packed]]\n\t"
        "b.w    1b\n\t"
        "15:\n\t" /* limits, and a short block */
        "lsrs   r0, r0, #1\n\t"
        "bcc    17f\n\t"
        "ldrd   r2, r3, [r7, %[low]]\n\t" /* and high */
        USMP_DSP_LIMITS("r9", "r2", "r3", "r12")
        "17:\n\t"
        "ldr    r2, [r7, %[short_end]]\n\t"
        "cmp    r1, r2\n\t"
        "bne    6b\n\t"
        "ldrd   r2, r3, [r7, %[output]]\n\t" /* and step */
        "ldr    r0, [r7, %[short_outputs]]\n\t"
        "strb   r9, [r2]\n\t"
        "lsr    r10, r9, #8\n\t"
        "lsr    r11, r9, #16\n\t"
        "cmp    r0, #2\n\t"
        "it     ge\n\t"
        "strbge r10, [r2, #1]\n\t"
        "it     gt\n\t"
        "strbgt r11, [r2, #2]\n\t"
        "b      16b\n\t"
        "10:\n\t"
        "pop    {r0, r1, r4-r11, pc}\n\t"
        :
        : USMP_OFFSET(usmp_pixels_s8_dsp, input), USMP_OFFSET(usmp_pixels_s8_dsp, loops),
        USMP_OFFSET(usmp_pixels_s8_dsp, entry), USMP_OFFSET(usmp_pixels_s8_dsp, zero_points),
        USMP_OFFSET(usmp_pixels_s8_dsp, run_entry), USMP_OFFSET(usmp_pixels_s8_dsp, packed),
        USMP_OFFSET(usmp_pixels_s8_dsp, end), USMP_OFFSET(usmp_pixels_s8_dsp, output),
        USMP_OFFSET(usmp_pixels_s8_dsp, rounding), USMP_OFFSET(usmp_pixels_s8_dsp, low),
        USMP_OFFSET(usmp_pixels_s8_dsp, pixels), USMP_OFFSET(usmp_pixels_s8_dsp, input_step),
        USMP_OFFSET(usmp_pixels_s8_dsp, other_runs), USMP_OFFSET(usmp_pixels_s8_dsp, runs_left),
        USMP_OFFSET(usmp_pixels_s8_dsp, runs), USMP_OFFSET(usmp_pixels_s8_dsp, skip),
        USMP_OFFSET(usmp_pixels_s8_dsp, is_wide), USMP_OFFSET(usmp_pixels_s8_dsp, short_outputs),
        USMP_OFFSET(usmp_pixels_s8_dsp, short_end), USMP_OFFSET(usmp_pixels_s8_dsp, word_entry));
    __asm__ volatile(/* apart: C99 compilers may refuse strings of more than 4,095 characters */
        ".balign 4\n\t"
        "7:\n\t" /* wide sums: a word */
        USMP_DSP_WIDE_WORD("ldr r3, [r0], #4")
        "subs   r2, r2, #1\n\t"
        "bne    7b\n\t"
        ".balign 4\n\t"
        "8:\n\t"
        "ldr    r2, [sp, #4]\n\t" /* the last word of the run */
        USMP_DSP_WIDE_WORD("ldr r3, [r0, r2]")
        "ldr    r7, [sp]\n\t"
        "ldr    r2, [r7, %[runs_left]]\n\t"
        "cmp    r2, #0\n\t"
        "bne.w  9b\n\t"
        "b.w    5b\n\t"

        ".balign 4\n\t"
        "19:\n\t" /* the first run of several */
        "ldr    r7, [sp]\n\t"
        "ldr    r2, [r7, %[other_runs]]\n\t"
        "str    r2, [r7, %[runs_left]]\n\t"
        "b.w    2b\n\t"

        ".balign 4\n\t"
        "13:\n\t" /* a run that has a gap before it, or sums of its own */
        "ldr    r7, [sp]\n\t"
        "cbz    r0, 22f\n\t"
        "ldrd   r3, r4, [r7, %[other_runs]]\n\t" /* and runs_left */
        "cmp    r3, r4\n\t"
        "ite    eq\n\t"
        "ldreq  r3, [r7, %[first_gap]]\n\t"
        "ldrne  r3, [r7, %[gap]]\n\t"
        "add    r1, r1, r3\n\t"
        "ldr    r3, [r7, %[is_divided]]\n\t"
        "cbz    r3, 24f\n\t"
        "beq    23f\n\t"
        "ldrd   r3, r4, [r7, %[totals]]\n\t"
        "sub    r9, r9, r10\n\t"
        "sub    r11, r11, lr\n\t"
        "add    r9, r3, r9, asr #8\n\t"
        "add    r11, r4, r11, asr #8\n\t"
        "23:\n\t"
        "strd   r9, r11, [r7, %[totals]]\n\t"
        "mov    r9, r10\n\t"
        "mov    r11, lr\n\t"
        "24:\n\t"
        "ldr    r3, [r7, %[word_entry]]\n\t"
        "ldr    r7, [r7, %[zero_points]]\n\t"
        "bx     r3\n\t"
        "22:\n\t" /* after the last run */
        "ldrd   r2, r3, [r7, %[gap]]\n\t" /* and last_gap */
        "add    r1, r1, r3\n\t"
        "ldr    r2, [r7, %[is_wide]]\n\t"
        "cmp    r2, #0\n\t"
        "bne.w  5b\n\t"
        "b.w    4b\n\t"

        "12:\n\t" /* sums become outputs, by factors of 1/2 or more */
        "ldr    r12, [r7, %[totals]]\n\t"
        "add    r9, r9, r12\n\t"
        "ldr    r12, [r7, %[totals] + 4]\n\t"
        "add    r11, r11, r12\n\t"
        USMP_DSP_STEEP("r9", "r2", "r6", "r12")
        USMP_DSP_STEEP("r10", "r3", "r6", "r12")
        USMP_DSP_STEEP("r11", "r4", "r6", "r12")
        USMP_DSP_STEEP("lr", "r5", "r6", "r12")
        "b.w    11b\n\t"
        :
        : USMP_OFFSET(usmp_pixels_s8_dsp, zero_points), USMP_OFFSET(usmp_pixels_s8_dsp, other_runs),
        USMP_OFFSET(usmp_pixels_s8_dsp, runs_left), USMP_OFFSET(usmp_pixels_s8_dsp, is_wide),
        USMP_OFFSET(usmp_pixels_s8_dsp, is_divided), USMP_OFFSET(usmp_pixels_s8_dsp, totals),
        USMP_OFFSET(usmp_pixels_s8_dsp, word_entry), USMP_OFFSET(usmp_pixels_s8_dsp, first_gap),
        USMP_OFFSET(usmp_pixels_s8_dsp, gap));
#else
    const int16_t zero = (int16_t)(dot->zero_points & 0xffff);
    const int8_t low = (int8_t)(dot->low & 0xff);
    const int8_t high = (int8_t)(dot->high & 0xff);
    const int32_t *at = dot->packed;

    while (dot->pixels > 0) {
        const int32_t *const shifts = at + dot->block - 1;
        const int is_short = (uintptr_t)(shifts + 1) == dot->short_end;
        uint32_t sums[4];

        for (int32_t i = 0; i < 4; ++i) {
            sums[i] = (uint32_t)at[i];
        }
        at += 4;
        for (int32_t run = dot->other_runs; run >= 0; --run) {
            const int8_t *const input = run == dot->other_runs ? dot->input : dot->runs[run];
            if (input == NULL) {
                break;
            }
            at += (run == dot->other_runs ? dot->first_gap : dot->gap) / 4;
            for (int32_t i = 0; dot->is_divided && i < 4; i += 2) {
                const int32_t part = (int32_t)(sums[i] - sums[i + 1]) >> 8;
                dot->totals[i / 2] = run == dot->other_runs ? (int32_t)sums[i] : dot->totals[i / 2] + part;
                sums[i] = sums[i + 1];
            }
            for (int32_t word = 0; word < dot->words; ++word, at += 4) {
                const int8_t *const x = input + 4 * word + (word == dot->words - 1 ? dot->rest : 0);
                for (int32_t i = 0; i < 4; ++i) { /* 0 and 2 are sums of lanes, 1 and 3 those of their lower bytes */
                    const int32_t shift = dot->is_wide && (i & 1) == 0 ? 8 : 0;
                    const uint32_t even = (uint32_t)at[i & 2] >> shift;
                    const uint32_t odd = (uint32_t)at[(i & 2) + 1] >> shift;
                    const uint32_t mask = dot->is_wide || (i & 1) != 0 ? 0xff : 0xffff;
                    const uint32_t sign = (mask + 1) / 2;
                    sums[i] += (uint32_t)(x[0] + zero) * (((even & mask) ^ sign) - sign);
                    sums[i] += (uint32_t)(x[1] + zero) * (((odd & mask) ^ sign) - sign);
                    sums[i] += (uint32_t)(x[2] + zero) * (((even >> 16 & mask) ^ sign) - sign);
                    sums[i] += (uint32_t)(x[3] + zero) * (((odd >> 16 & mask) ^ sign) - sign);
                }
            }
        }
        for (int32_t i = 0; i < (is_short ? dot->short_outputs : 4); ++i) {
            const int is_whole = dot->is_wide || (i & 1) != 0;
            const int32_t part = is_whole ? (int32_t)sums[i] : (int32_t)(sums[i] - sums[i + 1]) >> 8;
            const int32_t sum = part + ((i & 1) == 0 ? dot->totals[i / 2] : 0);
            const int32_t byte = *shifts >> 8 * i & 0xff;
            const int32_t result = usmp_output_s8_dsp(sum, shifts[i - 4], byte, dot->rounding);
            dot->output[i] = (int8_t)(result < low ? low : result > high ? high : result);
        }
        dot->output += dot->step;
        at = shifts + 1 + dot->back / 4;
        if ((uintptr_t)at == dot->end && --dot->pixels > 0) {
            dot->input += dot->input_step;
            dot->output += dot->output_step;
            at = dot->packed;
        }
    }
#endif
}

#endif
