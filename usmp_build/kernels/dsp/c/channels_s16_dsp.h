/* Sums of products of int16 of pixels under a window, each channel with its own filter, with Arm's DSP extension. */
#ifndef USMP_CHANNELS_S16_DSP_H
#define USMP_CHANNELS_S16_DSP_H

#include <string.h>

#include "depthwise_conv_2d.h"
#include "dsp.h"
#include "usmp.h"

/* Pixels, and the blocks of four channels to make of each.  The assembly knows the members by their offsets; those of
 * input and output, and steps, are in elements. */
struct usmp_depthwise_s16_dsp {
    const usmp_i16 *const *taps; /*  0: of the first pixel */
    int32_t offset;              /*  4: from the taps to the channels of the first block */
    int32_t loops;               /*  8: over four pairs of taps */
    int32_t skip;                /* 12: bytes of code that the first loop leaves out */
    uintptr_t entry;             /* 16, 20: for the function alone */
    uintptr_t pairs;
    usmp_i16 *output;            /* 24: of the first block of the first pixel */
    int32_t step;                /* 28: from a block to the next one, in input and output */
    uintptr_t end;               /* 32: where the block after the last one begins */
    int32_t back;                /* 36: bytes from the end of a block to the beginning of the next one */
    const int32_t *packed;       /* 40: the first block */
    int32_t is_clamped;          /* 44: whether the limits of outputs are not those of int16 */
    int32_t low;                 /* 48 */
    int32_t high;                /* 52 */
    int32_t is_odd;              /* 56: whether there is a tap without another one: the first */
    int32_t pixels;              /* 60 */
    int32_t offset_step;         /* 64: from where the block after the last one would be to the next pixel */
    int32_t output_step;         /* 68: the same of outputs */
    int32_t count;               /* 72: of taps */
    int32_t first;               /* 76: from the channels of a pixel to those of the first block */
};

/* Adds a tap: its two words of channels times a word of their weights; 9 instructions, 36 bytes of code. */
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

/* Makes the channels of all these blocks.  `packed` has for each block four sums to begin with, a word of the weights of
 * channels 0, 2, 1, 3 for each tap, and four multipliers, as in usmp_dot_s16_dsp. */
static USMP_ASSEMBLY_OR_INLINE void usmp_depthwise_blocks_s16_dsp(struct usmp_depthwise_s16_dsp *blocks USMP_UNUSED)
{
#if USMP_DSP
    __asm__ volatile(
        /* r0 taps, r1 packed, r2 offset, r3 loops, r4 r5 r7 input, r6 r12 lr weights, r8 to r11 sums */
        "push   {r0, r4-r11, lr}\n\t"
        "mov    r7, r0\n\t"
        "adr    r4, 3f\n\t"
        "ldr    r2, [r7, #12]\n\t"
        "add    r5, r4, r2\n\t"
        "adds   r5, #1\n\t" /* an address of Thumb code */
        "mov    r4, r5\n\t"
        "ldr    r3, [r7, #56]\n\t"
        "cbz    r3, 0f\n\t"
        "adr    r4, 2f\n\t"
        "adds   r4, #1\n\t"
        "0:\n\t"
        "strd   r4, r5, [r7, #16]\n\t"
        "ldr    r1, [r7, #40]\n\t"
        "ldr    r2, [r7, #4]\n\t"
        "lsls   r2, r2, #1\n\t"

        "1:\n\t" /* a block of four channels */
        "ldm    r1!, {r8, r9, r10, r11}\n\t"
        "ldr    r0, [r7]\n\t"
        "ldrd   r4, r5, [r7, #16]\n\t"
        "ldr    r3, [r7, #8]\n\t"
        "bx     r4\n\t"
        ".balign 4\n\t"
        "2:\n\t"
        "ldr    r4, [r0], #4\n\t"
        "ldr    r6, [r1], #4\n\t"
        USMP_DSP_TAP_OF_INT16("r4", "r6")
        "bx     r5\n\t"
        ".balign 4\n\t"
        "3:\n\t"
        ".rept  4\n\t" /* 80 bytes of code for each pair of taps */
        "ldrd   r4, r5, [r0], #8\n\t"
        "ldrd   r6, r12, [r1], #8\n\t"
        USMP_DSP_TAP_OF_INT16("r4", "r6")
        USMP_DSP_TAP_OF_INT16("r5", "r12")
        ".endr\n\t"
        "subs.w r3, r3, #1\n\t"
        "bne.w  3b\n\t"

        "ldr    r7, [sp]\n\t" /* the sums become outputs */
        "ldm    r1!, {r3, r4, r5, r6}\n\t"
        "ldr    r0, [r7, #44]\n\t"
        "smmulr r8, r8, r3\n\t"
        "smmulr r9, r9, r4\n\t"
        "smmulr r10, r10, r5\n\t"
        "smmulr r11, r11, r6\n\t"
        "ldrd   r12, r3, [r7, #24]\n\t"
        ".irp   sum, r8, r9, r10, r11\n\t"
        "ssat   \\sum, #16, \\sum\n\t"
        ".endr\n\t"
        "cbz    r0, 4f\n\t"
        "ldrd   r4, r5, [r7, #48]\n\t"
        ".irp   sum, r8, r9, r10, r11\n\t"
        "cmp    \\sum, r4\n\t"
        "it     lt\n\t"
        "movlt  \\sum, r4\n\t"
        "cmp    \\sum, r5\n\t"
        "it     gt\n\t"
        "movgt  \\sum, r5\n\t"
        ".endr\n\t"

        "4:\n\t"
        "strh   r8, [r12]\n\t"
        "strh   r9, [r12, #2]\n\t"
        "strh   r10, [r12, #4]\n\t"
        "strh   r11, [r12, #6]\n\t"
        "add    r12, r12, r3, lsl #1\n\t"
        "add    r2, r2, r3, lsl #1\n\t"
        "str    r12, [r7, #24]\n\t"
        "ldrd   r3, r4, [r7, #32]\n\t"
        "add    r1, r1, r4\n\t"
        "cmp    r1, r3\n\t"
        "bne.w  1b\n\t"
        "ldrd   r3, r4, [r7, #60]\n\t" /* the next pixel */
        "ldr    r5, [r7, #68]\n\t"
        "ldr    r1, [r7, #40]\n\t"
        "add    r2, r2, r4, lsl #1\n\t"
        "add    r12, r12, r5, lsl #1\n\t"
        "str    r12, [r7, #24]\n\t"
        "subs   r3, #1\n\t"
        "str    r3, [r7, #60]\n\t"
        "bne.w  1b\n\t"
        "pop    {r0, r4-r11, pc}\n\t");
#else
    const int32_t *at = blocks->packed;

    while (blocks->pixels > 0) {
        const int32_t *const weights = at + 4;
        const int32_t *const multipliers = weights + blocks->count;
        int32_t sums[4];

        for (int32_t i = 0; i < 4; ++i) {
            sums[i] = at[i];
        }
        for (int32_t tap = 0; tap < blocks->count; ++tap) {
            for (int32_t i = 0; i < 4; ++i) {
                const int32_t shift = 16 * (i & 1) + 8 * (i >> 1);
                sums[i] += blocks->taps[tap][blocks->offset + i] * (int8_t)(weights[tap] >> shift & 0xff);
            }
        }
        for (int32_t i = 0; i < 4; ++i) {
            const int32_t result = usmp_scaled_s16_dsp(sums[i], multipliers[i]);
            blocks->output[i] =
                (usmp_i16)(result < blocks->low ? blocks->low : result > blocks->high ? blocks->high : result);
        }
        blocks->offset += blocks->step;
        blocks->output += blocks->step;
        at = multipliers + 4 + blocks->back / 4;
        if ((uintptr_t)at == blocks->end) {
            --blocks->pixels;
            blocks->offset += blocks->offset_step;
            blocks->output += blocks->output_step;
            at = blocks->packed;
        }
    }
#endif
}

/* Makes one channel that is left over.  `packed` has the sum to begin with, the multiplier, and a word for each
 * weight. */
static inline usmp_i16 usmp_depthwise_channel_s16_dsp(
    const struct usmp_depthwise_s16_dsp *pixel, const int32_t *packed, int32_t offset)
{
    int32_t sum = packed[0];
    int32_t result;

    for (int32_t tap = 0; tap < pixel->count; ++tap) {
        sum += pixel->taps[tap][offset] * packed[2 + tap];
    }
    result = usmp_scaled_s16_dsp(sum, packed[1]);
    return (usmp_i16)(result < pixel->low ? pixel->low : result > pixel->high ? pixel->high : result);
}

/* The words in `packed` of a block, and of a channel that is left over. */
static inline int32_t usmp_words_of_four_s16_dsp(int32_t taps)
{
    return 8 + taps;
}

static inline int32_t usmp_words_of_one_s16_dsp(int32_t taps)
{
    return 2 + taps;
}

static inline void usmp_set_limits_s16_dsp(
    struct usmp_depthwise_s16_dsp *pixel, const struct usmp_depthwise_conv_2d_s16_parameters *p)
{
    pixel->low = p->low;
    pixel->high = p->high;
    pixel->is_clamped = p->low > -32768 || p->high < 32767;
}

/* Repeats each channel of a pixel as often as it has filters, and writes `count` of these elements from element `first`
 * on, a multiple of four; with up to 31 elements more. */
static inline void usmp_repeat_channels_s16_dsp(
    const usmp_i16 *pixel, int32_t multiplier, int32_t first, int32_t count, usmp_i16 *to)
{
    const usmp_i16 *const end = to + count;
    int32_t left = multiplier - first % multiplier;

    pixel += first / multiplier;
    for (; to < end; to += left, left = multiplier, ++pixel) {
        const uint32_t two = (uint32_t)(uint16_t)*pixel * 0x00010001u;

        for (; left > 2; to += 2, left -= 2) {
            memcpy(to, &two, 4);
        }
        memcpy(to, &two, 4);
    }
}

#endif
