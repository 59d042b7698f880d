/* Sums of products of the channels of pixels under a window, each with its own filter, with Arm's DSP extension. */
#ifndef USMP_CHANNELS_DSP_H
#define USMP_CHANNELS_DSP_H

#include <string.h>

#include "arithmetic.h"
#include "assembly.h"
#include "depthwise_conv_2d.h"
#include "dsp.h"
#include "usmp.h"

/* Pixels, and the blocks of four channels to make of each.  Steps are in elements.  The assembly loads members in
 * pairs. */
struct usmp_depthwise_s8_dsp {
    const int8_t *const *taps; /* of the first pixel */
    int32_t offset;            /* from the taps to the channels of the first block */
    int32_t loops;             /* over four pairs of taps */
    int32_t skip;              /* bytes of code that the first loop leaves out */
    uintptr_t entry;           /* for the function alone */
    uintptr_t pairs;
    int8_t *output;            /* of the first block of the first pixel */
    int32_t step;              /* from a block to the next one, in input and output */
    uintptr_t end;             /* where the block after the last one begins */
    int32_t back;              /* bytes from the end of a block to the beginning of the next one */
    const int32_t *packed;     /* the first block */
#if USMP_S8
    int32_t rounding;          /* 1 + 2 * the output's zero point */
#endif
    int32_t is_clamped;        /* whether the limits of outputs are not those of the type */
    int32_t low;               /* of int8, four times */
    int32_t high;
    int32_t is_odd;            /* whether there is a tap without another one: the first */
    int32_t pixels;
    int32_t offset_step;       /* from where the block after the last one would be to the next pixel */
    int32_t output_step;       /* the same of outputs */
    int32_t count;             /* of taps */
    int32_t first;             /* from the channels of a pixel to those of the first block */
};

/* Adds a tap: its word of four channels times that of their weights. */
#define USMP_DSP_TAP(INPUT, WEIGHTS) \
    "sxtb16 lr, " INPUT "\n\t" \
    "sxtb16 r7, " WEIGHTS "\n\t" \
    "sxtb16 " INPUT ", " INPUT ", ror #8\n\t" \
    "sxtb16 " WEIGHTS ", " WEIGHTS ", ror #8\n\t" \
    "smlabb r8, lr, r7, r8\n\t" \
    "smlatt r10, lr, r7, r10\n\t" \
    "smlabb r9, " INPUT ", " WEIGHTS ", r9\n\t" \
    "smlatt r11, " INPUT ", " WEIGHTS ", r11\n\t"

/* The same of int16: its two words of channels times a word of their weights; 9 instructions, 36 bytes of code. */
#define USMP_DSP_TAP_OF_INT16(INPUT, WEIGHTS) \
    "add.w  " INPUT ", " INPUT ", r2\n\t" \
    "ldr.w  r7, [" INPUT "]\n\t" \
    "ldr.w  " INPUT ", [" INPUT ", #4]\n\t" \
    "sxtb16 lr, " WEIGHTS "\n\t" \
    "sxtb16 " WEIGHTS ", " WEIGHTS ", ror #8\n\t" \
    "smlabb r8, r7, lr, r8\n\t" \
    "smlatt r9, r7, lr, r9\n\t" \
    "smlabb r10, " INPUT ", " WEIGHTS ", r10\n\t" \
    "smlatt r11, " INPUT ", " WEIGHTS ", r11\n\t"

/* The words in `packed` of a block, and of a channel that is left over. */
static inline int32_t usmp_words_of_four_s8_dsp(int32_t taps)
{
#if USMP_S8
    return 9 + taps;
#else
    return 8 + taps;
#endif
}

static inline int32_t usmp_words_of_one_s8_dsp(int32_t taps)
{
#if USMP_S8
    return 3 + taps;
#else
    return 2 + taps;
#endif
}

static inline USMP_UNUSED int8_t usmp_within_limits_s8_dsp(const struct usmp_depthwise_s8_dsp *p, int32_t output)
{
#if USMP_S8
    return (int8_t)usmp_clamp(output, (int8_t)(p->low & 0xff), (int8_t)(p->high & 0xff));
#else
    return (int8_t)(output < p->low ? p->low : output > p->high ? p->high : output);
#endif
}

/* Makes the channels of all these blocks.  `packed` has for each block four sums to begin with, a word of four weights
 * for each tap, and four multipliers.  Of int8, these are doubled, less 2^32, and followed by a word of right shifts
 * less 1, or of the shifts that dsp.h has for factors of 1/2 or more.  Of int16, they are as in usmp_dot_s16_dsp, and
 * weights are those of channels 0, 2, 1, 3. */
static USMP_ASSEMBLY_OR_INLINE void usmp_depthwise_blocks_s8_dsp(struct usmp_depthwise_s8_dsp *blocks USMP_UNUSED)
{
#if USMP_DSP
    __asm__ volatile(
        /* r0 taps, r1 packed, r2 offset, r3 loops, r4 r5 input, r6 r12 weights, r7 lr for a tap, r8 to r11 sums */
        "push   {r0, r4-r11, lr}\n\t"
        "mov    r7, r0\n\t"
        "adr    r4, 3f\n\t"
        "ldr    r2, [r7, %[skip]]\n\t"
        "add    r5, r4, r2\n\t"
        "adds   r5, #1\n\t" /* an address of Thumb code */
        "mov    r4, r5\n\t"
        "ldr    r3, [r7, %[is_odd]]\n\t"
        "cbz    r3, 0f\n\t"
        "adr    r4, 2f\n\t"
        "adds   r4, #1\n\t"
        "0:\n\t"
        "strd   r4, r5, [r7, %[entry]]\n\t" /* and pairs */
        "ldr    r1, [r7, %[packed]]\n\t"
        "ldr    r2, [r7, %[offset]]\n\t"
#if USMP_S16
        "lsls   r2, r2, #1\n\t"
#endif

        "1:\n\t" /* a block of four channels */
        "ldm    r1!, {r8, r9, r10, r11}\n\t"
        "ldr    r0, [r7, %[taps]]\n\t"
        "ldrd   r4, r5, [r7, %[entry]]\n\t"
        "ldr    r3, [r7, %[loops]]\n\t"
        "bx     r4\n\t"
        ".balign 4\n\t"
        "2:\n\t"
        "ldr    r4, [r0], #4\n\t"
        "ldr    r6, [r1], #4\n\t"
#if USMP_S8
        "ldr    r4, [r4, r2]\n\t"
        USMP_DSP_TAP("r4", "r6")
#else
        USMP_DSP_TAP_OF_INT16("r4", "r6")
#endif
        "bx     r5\n\t"
        ".balign 4\n\t"
        "3:\n\t"
        ".rept  4\n\t" /* 80 bytes of code for each pair of taps */
        "ldrd   r4, r5, [r0], #8\n\t"
        "ldrd   r6, r12, [r1], #8\n\t"
#if USMP_S8
        "ldr.w  r4, [r4, r2]\n\t"
        "ldr.w  r5, [r5, r2]\n\t"
        USMP_DSP_TAP("r4", "r6")
        USMP_DSP_TAP("r5", "r12")
#else
        USMP_DSP_TAP_OF_INT16("r4", "r6")
        USMP_DSP_TAP_OF_INT16("r5", "r12")
#endif
        ".endr\n\t"
        "subs.w r3, r3, #1\n\t"
        "bne.w  3b\n\t"

        "ldr    r7, [sp]\n\t" /* the sums become outputs */
#if USMP_S8
        "ldm    r1!, {r3, r4, r5, r6, r12}\n\t"
        "ldrd   lr, r0, [r7, %[rounding]]\n\t" /* and is_clamped */
        "tst    r12, #128\n\t"
        "bne.w  6f\n\t"
        "smmlar r8, r8, r3, r8\n\t"
        "smmlar r9, r9, r4, r9\n\t"
        "smmlar r10, r10, r5, r10\n\t"
        "smmlar r11, r11, r6, r11\n\t"
        "add    r8, r8, r8, asr #31\n\t"
        "add    r9, r9, r9, asr #31\n\t"
        "add    r10, r10, r10, asr #31\n\t"
        "add    r11, r11, r11, asr #31\n\t"
        "asr    r8, r8, r12\n\t" /* by the lowest byte */
        "lsr    r12, r12, #8\n\t"
        "asr    r9, r9, r12\n\t"
        "lsr    r12, r12, #8\n\t"
        "asr    r10, r10, r12\n\t"
        "lsr    r12, r12, #8\n\t"
        "asr    r11, r11, r12\n\t"
        "5:\n\t"
        "ldrd   r12, r3, [r7, %[output]]\n\t" /* and step */
        ".irp   sum, r8, r9, r10, r11\n\t"
        "add    \\sum, \\sum, lr\n\t"
        "ssat   \\sum, #8, \\sum, asr #1\n\t"
        ".endr\n\t"
        "bfi    r8, r9, #8, #8\n\t"
        "bfi    r8, r10, #16, #8\n\t"
        "bfi    r8, r11, #24, #8\n\t"
        "cbz    r0, 4f\n\t"
        "ldrd   r4, r5, [r7, %[low]]\n\t"
        USMP_DSP_LIMITS("r8", "r4", "r5", "r6")
#else
        "ldm    r1!, {r3, r4, r5, r6}\n\t"
        "ldr    r0, [r7, %[is_clamped]]\n\t"
        "smmulr r8, r8, r3\n\t"
        "smmulr r9, r9, r4\n\t"
        "smmulr r10, r10, r5\n\t"
        "smmulr r11, r11, r6\n\t"
        "ldrd   r12, r3, [r7, %[output]]\n\t" /* and step */
        ".irp   sum, r8, r9, r10, r11\n\t"
        "ssat   \\sum, #16, \\sum\n\t"
        ".endr\n\t"
        "cbz    r0, 4f\n\t"
        "ldrd   r4, r5, [r7, %[low]]\n\t"
        ".irp   sum, r8, r9, r10, r11\n\t"
        USMP_DSP_LIMIT("\\sum", "r4", "r5")
        ".endr\n\t"
#endif

        "4:\n\t"
#if USMP_S8
        "str    r8, [r12]\n\t"
        "add    r12, r12, r3\n\t"
        "add    r2, r2, r3\n\t"
#else
        "strh   r8, [r12]\n\t"
        "strh   r9, [r12, #2]\n\t"
        "strh   r10, [r12, #4]\n\t"
        "strh   r11, [r12, #6]\n\t"
        "add    r12, r12, r3, lsl #1\n\t"
        "add    r2, r2, r3, lsl #1\n\t"
#endif
        "str    r12, [r7, %[output]]\n\t"
        "ldrd   r3, r4, [r7, %[end]]\n\t" /* and back */
        "add    r1, r1, r4\n\t"
        "cmp    r1, r3\n\t"
        "bne.w  1b\n\t"
        "ldrd   r3, r4, [r7, %[pixels]]\n\t" /* the next pixel; and offset_step */
        "ldr    r5, [r7, %[output_step]]\n\t"
        "ldr    r1, [r7, %[packed]]\n\t"
#if USMP_S8
        "add    r2, r2, r4\n\t"
        "add    r12, r12, r5\n\t"
#else
        "add    r2, r2, r4, lsl #1\n\t"
        "add    r12, r12, r5, lsl #1\n\t"
#endif
        "str    r12, [r7, %[output]]\n\t"
        "subs   r3, #1\n\t"
        "str    r3, [r7, %[pixels]]\n\t"
        "bne.w  1b\n\t"
        "pop    {r0, r4-r11, pc}\n\t"
#if USMP_S8

        "6:\n\t" /* sums become outputs, by factors of 1/2 or more */
        USMP_DSP_STEEP("r8", "r3", "r12", "r7")
        USMP_DSP_STEEP("r9", "r4", "r12", "r7")
        USMP_DSP_STEEP("r10", "r5", "r12", "r7")
        USMP_DSP_STEEP("r11", "r6", "r12", "r7")
        "ldr    r7, [sp]\n\t"
        "b.w    5b\n\t"
#endif
        :
        : USMP_OFFSET(usmp_depthwise_s8_dsp, taps), USMP_OFFSET(usmp_depthwise_s8_dsp, offset),
#if USMP_S8
        USMP_OFFSET(usmp_depthwise_s8_dsp, rounding),
#else
        USMP_OFFSET(usmp_depthwise_s8_dsp, is_clamped),
#endif
        USMP_OFFSET(usmp_depthwise_s8_dsp, loops), USMP_OFFSET(usmp_depthwise_s8_dsp, skip),
        USMP_OFFSET(usmp_depthwise_s8_dsp, entry), USMP_OFFSET(usmp_depthwise_s8_dsp, output),
        USMP_OFFSET(usmp_depthwise_s8_dsp, end), USMP_OFFSET(usmp_depthwise_s8_dsp, packed),
        USMP_OFFSET(usmp_depthwise_s8_dsp, low), USMP_OFFSET(usmp_depthwise_s8_dsp, is_odd),
        USMP_OFFSET(usmp_depthwise_s8_dsp, pixels), USMP_OFFSET(usmp_depthwise_s8_dsp, output_step));
#else
    const int32_t *at = blocks->packed;

    while (blocks->pixels > 0) {
        const int32_t *const weights = at + 4;
        const int32_t *const factors = weights + blocks->count;
        int32_t sums[4];

        for (int32_t i = 0; i < 4; ++i) {
            sums[i] = at[i];
        }
        for (int32_t tap = 0; tap < blocks->count; ++tap) {
            for (int32_t i = 0; i < 4; ++i) {
#if USMP_S8
                const int32_t shift = 8 * i;
#else
                const int32_t shift = 16 * (i & 1) + 8 * (i >> 1);
#endif
                sums[i] += blocks->taps[tap][blocks->offset + i] * (usmp_weight)(weights[tap] >> shift & 0xff);
            }
        }
        for (int32_t i = 0; i < 4; ++i) {
#if USMP_S8
            const int32_t byte = factors[4] >> 8 * i & 0xff;
            const int32_t output = usmp_output_s8_dsp(sums[i], factors[i], byte, blocks->rounding);
#else
            const int32_t output = usmp_scaled_s16_dsp(sums[i], factors[i]);
#endif
            blocks->output[i] = usmp_within_limits_s8_dsp(blocks, output);
        }
        blocks->offset += blocks->step;
        blocks->output += blocks->step;
        at += usmp_words_of_four_s8_dsp(blocks->count) + blocks->back / 4;
        if ((uintptr_t)at == blocks->end) {
            --blocks->pixels;
            blocks->offset += blocks->offset_step;
            blocks->output += blocks->output_step;
            at = blocks->packed;
        }
    }
#endif
}

/* Makes one channel that is left over.  `packed` has the sum to begin with, multiplier, of int8 right shift less 1 or
 * shifts, and a word for each weight. */
static inline int8_t usmp_depthwise_channel_s8_dsp(
    const struct usmp_depthwise_s8_dsp *pixel, const int32_t *packed, int32_t offset)
{
    int32_t sum = packed[0];

    for (int32_t tap = 0; tap < pixel->count; ++tap) {
        sum += pixel->taps[tap][offset] * packed[usmp_words_of_one_s8_dsp(tap)];
    }
#if USMP_S8
    return usmp_within_limits_s8_dsp(pixel, usmp_output_s8_dsp(sum, packed[1], packed[2], pixel->rounding));
#else
    return usmp_within_limits_s8_dsp(pixel, usmp_scaled_s16_dsp(sum, packed[1]));
#endif
}

static inline void usmp_set_limits_s8_dsp(
    struct usmp_depthwise_s8_dsp *pixel, const struct usmp_depthwise_conv_2d_s8_parameters *p)
{
#if USMP_S8
    pixel->rounding = 1 + 2 * p->output_zero_point;
    pixel->low = usmp_four_times_dsp(p->low + p->output_zero_point);
    pixel->high = usmp_four_times_dsp(p->high + p->output_zero_point);
    pixel->is_clamped = p->low + p->output_zero_point > -128 || p->high + p->output_zero_point < 127;
#else
    pixel->low = p->low;
    pixel->high = p->high;
    pixel->is_clamped = p->low > -32768 || p->high < 32767;
#endif
}

/* Repeats each channel of a pixel as often as it has filters, and writes `count` of these elements from element `first`
 * on, a multiple of four; with up to 31 elements more. */
static inline void usmp_repeat_channels_s8_dsp(
    const int8_t *pixel, int32_t multiplier, int32_t first, int32_t count, int8_t *to)
{
    const int32_t size = 4 / (int32_t)sizeof(int8_t); /* elements of a word */
    int32_t left = multiplier - first % multiplier;
    int32_t done = 0;

    pixel += first / multiplier;
#if USMP_S8
    for (; multiplier == 2 && done + 4 <= count; done += 4, pixel += 2) {
        const uint32_t four = ((uint32_t)(uint8_t)pixel[0] | (uint32_t)(uint8_t)pixel[1] << 16) * 0x0101u;
        memcpy(to + done, &four, 4);
    }
#endif
    for (; done < count; left = multiplier, ++pixel) {
#if USMP_S8
        const uint32_t word = (uint32_t)(uint8_t)*pixel * 0x01010101u;
#else
        const uint32_t word = (uint32_t)(uint16_t)*pixel * 0x00010001u;
#endif

        for (int32_t i = 0; i < left; i += size) {
            memcpy(to + done + i, &word, 4);
        }
        done += left;
    }
}

#endif
