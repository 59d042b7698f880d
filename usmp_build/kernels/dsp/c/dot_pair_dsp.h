/* Sums of products of the bytes under a window with the filters of one output or two, with Arm's DSP extension. */
#ifndef USMP_DOT_PAIR_DSP_H
#define USMP_DOT_PAIR_DSP_H

#include "assembly.h"
#include "conv_2d_dsp.h"
#include "dsp.h"
#include "usmp.h"

/* Pixels to make.  The assembly loads members in pairs. */
struct usmp_pair_s8_dsp {
    const int32_t *packed;
    int32_t other_runs;        /* the number of runs after the first, all equally long */
    const int8_t *input;       /* the first run of bytes of the first pixel */
    int8_t *output;            /* of the first pixel */
    int32_t loops;             /* over four words of a run; all but its last word */
    int32_t skip;              /* bytes of code that the first loop leaves out */
    int32_t rest;              /* bytes from where the last word of a run would begin to where it does: -3 to 0 */
    const int8_t *const *runs; /* the further runs, the last one first */
    int32_t rounding;          /* 1 + 2 * the output's zero point */
    int32_t flags;             /* 1 if the limits of outputs are not those of int8, 2 if there is one output */
    int32_t low;
    int32_t high;
    int32_t pixels;            /* if more than one, each has but one run */
    int32_t input_step;        /* from where the last word of a run would begin to the next pixel */
    int32_t output_step;       /* from a pixel to the next one */
    int32_t words;             /* of a run */
};

static inline void usmp_set_pair_s8_dsp(
    struct usmp_pair_s8_dsp *pair, const struct usmp_conv_2d_s8_dsp_parameters *p, const int32_t *packed)
{
    pair->packed = packed;
    pair->rounding = p->rounding;
    pair->flags = p->is_clamped | (p->output_channels == 1 ? 2 : 0);
    pair->low = p->low;
    pair->high = p->high;
}

/* Says how long all runs are: at least four bytes. */
static inline void usmp_set_runs_of_pair_s8_dsp(struct usmp_pair_s8_dsp *pair, int32_t other_runs, int32_t bytes)
{
    const int32_t whole = (int32_t)((uint32_t)(bytes - 1) / 4); /* words but the last one */

    pair->other_runs = other_runs;
    pair->words = whole + 1;
    pair->loops = (int32_t)((uint32_t)(whole + 3) / 4);
    pair->skip = whole == 0 ? 40 * 4 + 8 : 40 * (4 * pair->loops - whole);
    pair->rest = bytes - 4 - 4 * whole;
}

/* Adds a word of input: 10 instructions, 40 bytes of code, for 8 products. */
#define USMP_DSP_WORD_OF_PAIR(LOAD) \
    "ldrd   r4, r5, [r1], #8\n\t" \
    LOAD "\n\t" \
    "sxtb16 r12, r3\n\t" \
    "sxtb16 r3, r3, ror #8\n\t" \
    "smlad  r6, r12, r4, r6\n\t" \
    "smlad  r6, r3, r5, r6\n\t" \
    "sxtb16 r4, r4\n\t" \
    "sxtb16 r5, r5\n\t" \
    "smlad  lr, r12, r4, lr\n\t" \
    "smlad  lr, r3, r5, lr\n\t"

/* Makes the outputs; a and b are their filters, or b is 0.  `packed` has, as usmp_dot_s8_dsp's for a pair,
 *
 *     256 * A + B,  B
 *     for each word of input, bytes k to k + 3, two words
 *     multipliers of a and b, doubled, less 2^32
 *     right shifts less 1, a byte each, that of a in the lowest; or shifts of usmp_scaled_steep_s8_dsp */
static USMP_ASSEMBLY void usmp_dot_pair_s8_dsp(struct usmp_pair_s8_dsp *pair USMP_UNUSED)
{
#if USMP_DSP
    __asm__ volatile(
        /* r0 input, r1 packed, r2 loops, r3 r12 input bytes, r4 r5 weights, r6 lr sums, r7 pair, r8 pixels, r9 output,
         * r10 runs left, r11 where a run begins */
        "push   {r4-r11, lr}\n\t"
        "mov    r7, r0\n\t"
        "adr    r3, 3f\n\t"
        "ldr    r2, [r7, %[skip]]\n\t"
        "ldrd   r0, r9, [r7, %[input]]\n\t" /* and output */
        "adds   r3, r3, r2\n\t"
        "add    r11, r3, #1\n\t" /* an address of Thumb code */
        "ldr    r8, [r7, %[pixels]]\n\t"

        "1:\n\t" /* a pixel */
        "ldrd   r1, r10, [r7, %[packed]]\n\t" /* and other_runs */
        "ldrd   r6, lr, [r1], #8\n\t"

        "2:\n\t" /* a run */
        "ldr    r2, [r7, %[loops]]\n\t"
        "bx     r11\n\t"
        ".balign 4\n\t"
        "3:\n\t"
        ".rept  4\n\t"
        USMP_DSP_WORD_OF_PAIR("ldr.w r3, [r0], #4")
        ".endr\n\t"
        "subs.w r2, r2, #1\n\t"
        "bne.w  3b\n\t"
        "ldr    r2, [r7, %[rest]]\n\t" /* the last word of the run */
        USMP_DSP_WORD_OF_PAIR("ldr.w r3, [r0, r2]")
        "cmp    r10, #0\n\t"
        "beq    4f\n\t"
        "sub    r10, r10, #1\n\t" /* the next run */
        "ldr    r3, [r7, %[runs]]\n\t"
        "ldr    r0, [r3, r10, lsl #2]\n\t"
        "b      2b\n\t"

        "4:\n\t" /* the sum of a; sums become outputs */
        "sub    r6, r6, lr\n\t"
        "ldm    r1, {r2, r3, r4}\n\t"
        "asrs   r6, r6, #8\n\t"
        "ldrd   r5, r10, [r7, %[rounding]]\n\t" /* and flags */
        "tst    r4, #128\n\t"
        "bne    9f\n\t"
        "smmlar r6, r6, r2, r6\n\t"
        "smmlar lr, lr, r3, lr\n\t"
        "add    r6, r6, r6, asr #31\n\t"
        "add    lr, lr, lr, asr #31\n\t"
        "asr    r6, r6, r4\n\t" /* by the lowest byte */
        "lsrs   r4, r4, #8\n\t"
        "asr    lr, lr, r4\n\t"
        "5:\n\t"
        "add    r6, r6, r5\n\t"
        "add    lr, lr, r5\n\t"
        "ssat   r6, #8, r6, asr #1\n\t"
        "ssat   lr, #8, lr, asr #1\n\t"
        "lsrs   r10, r10, #1\n\t"
        "bcs    8f\n\t"
        "6:\n\t"
        "strb   r6, [r9]\n\t"
        "it     eq\n\t"
        "strbeq lr, [r9, #1]\n\t"
        "ldrd   r2, r3, [r7, %[input_step]]\n\t" /* the next pixel */
        "subs   r8, r8, #1\n\t"
        "add    r0, r0, r2\n\t"
        "add    r9, r9, r3\n\t"
        "bne    1b\n\t"
        "pop    {r4-r11, pc}\n\t"

        "8:\n\t" /* limits */
        "ldrd   r2, r3, [r7, %[low]]\n\t"
        ".irp   sum, r6, lr\n\t"
        USMP_DSP_LIMIT("\\sum", "r2", "r3")
        ".endr\n\t"
        "cmp    r10, #0\n\t"
        "b      6b\n\t"

        "9:\n\t" /* sums become outputs, by factors of 1/2 or more */
        USMP_DSP_STEEP("r6", "r2", "r4", "r12")
        USMP_DSP_STEEP("lr", "r3", "r4", "r12")
        "b      5b\n\t"
        :
        : USMP_OFFSET(usmp_pair_s8_dsp, packed), USMP_OFFSET(usmp_pair_s8_dsp, input),
        USMP_OFFSET(usmp_pair_s8_dsp, loops), USMP_OFFSET(usmp_pair_s8_dsp, skip), USMP_OFFSET(usmp_pair_s8_dsp, rest),
        USMP_OFFSET(usmp_pair_s8_dsp, runs), USMP_OFFSET(usmp_pair_s8_dsp, rounding),
        USMP_OFFSET(usmp_pair_s8_dsp, low), USMP_OFFSET(usmp_pair_s8_dsp, pixels),
        USMP_OFFSET(usmp_pair_s8_dsp, input_step));
#else
    for (; pair->pixels > 0; --pair->pixels) {
        const int32_t *at = pair->packed + 2;
        uint32_t both = (uint32_t)pair->packed[0];
        uint32_t lower = (uint32_t)pair->packed[1];
        int32_t sums[2];

        for (int32_t run = pair->other_runs; run >= 0; --run) {
            const int8_t *const input = run == pair->other_runs ? pair->input : pair->runs[run];
            for (int32_t word = 0; word < pair->words; ++word) {
                const int8_t *const x = input + 4 * word + (word == pair->words - 1 ? pair->rest : 0);
                for (int32_t i = 0; i < 2; ++i, ++at) {
                    const uint32_t weights = (uint32_t)*at;
                    both += (uint32_t)(x[i] * (int16_t)(weights & 0xffff) + x[i + 2] * (int16_t)(weights >> 16));
                    lower += (uint32_t)(x[i] * (int8_t)(weights & 0xff) + x[i + 2] * (int8_t)(weights >> 16 & 0xff));
                }
            }
        }
        sums[0] = (int32_t)(both - lower) >> 8;
        sums[1] = (int32_t)lower;
        for (int32_t i = 0; i < ((pair->flags & 2) != 0 ? 1 : 2); ++i) {
            const int32_t result = usmp_output_s8_dsp(sums[i], at[i], at[2] >> 8 * i & 0xff, pair->rounding);
            pair->output[i] = (int8_t)(result < pair->low ? pair->low : result > pair->high ? pair->high : result);
        }
        pair->input += 4 * (pair->words - 1) + pair->input_step;
        pair->output += pair->output_step;
    }
#endif
}

#endif
