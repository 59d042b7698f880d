/* Sums of products of the channels of pixels under a window, each with its own filter, with Arm's DSP extension. */
#ifndef USMP_CHANNELS_DSP_H
#define USMP_CHANNELS_DSP_H

#include <string.h>

#include "depthwise_conv_2d.h"
#include "dsp.h"
#include "usmp.h"

/* Pixels, and the blocks of four channels to make of each.  The assembly knows the members by their offsets. */
struct usmp_depthwise_s8_dsp {
    const int8_t *const *taps; /*  0: of the first pixel */
    int32_t offset;            /*  4: from the taps to the channels of the first block */
    int32_t loops;             /*  8: over four pairs of taps */
    int32_t skip;              /* 12: bytes of code that the first loop leaves out */
    uintptr_t entry;           /* 16, 20: for the function alone */
    uintptr_t pairs;
    int8_t *output;            /* 24: of the first block of the first pixel */
    int32_t step;              /* 28: from a block to the next one, in bytes of input and output */
    uintptr_t end;             /* 32: where the block after the last one begins */
    int32_t back;              /* 36: bytes from the end of a block to the beginning of the next one */
    const int32_t *packed;     /* 40: the first block */
    int32_t rounding;          /* 44: 1 + 2 * the output's zero point */
    int32_t is_clamped;        /* 48: whether the limits of outputs are not those of int8 */
    int32_t low;               /* 52: four times */
    int32_t high;              /* 56: four times */
    int32_t is_odd;            /* 60: whether there is a tap without another one: the first */
    int32_t pixels;            /* 64 */
    int32_t offset_step;       /* 68: from where the block after the last one would be to the next pixel */
    int32_t output_step;       /* 72: the same of outputs */
    int32_t count;             /* 76: of taps */
    int32_t first;             /* 80: from the channels of a pixel to those of the first block */
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

/* Makes the channels of all these blocks.  `packed` has for each block four sums to begin with, a word of four weights
 * for each tap, four multipliers, doubled, less 2^32, and a word of their right shifts less 1, or of shifts of
 * usmp_scaled_steep_s8_dsp. */
static USMP_ASSEMBLY void usmp_depthwise_blocks_s8_dsp(struct usmp_depthwise_s8_dsp *blocks USMP_UNUSED)
{
#if USMP_DSP
    __asm__ volatile(
        /* r0 taps, r1 packed, r2 offset, r3 loops, r4 r5 input, r6 r12 weights, r7 lr their halves, r8 to r11 sums */
        "push   {r0, r4-r11, lr}\n\t"
        "mov    r7, r0\n\t"
        "adr    r4, 3f\n\t"
        "ldr    r2, [r7, #12]\n\t"
        "add    r5, r4, r2\n\t"
        "adds   r5, #1\n\t" /* an address of Thumb code */
        "mov    r4, r5\n\t"
        "ldr    r3, [r7, #60]\n\t"
        "cbz    r3, 0f\n\t"
        "adr    r4, 2f\n\t"
        "adds   r4, #1\n\t"
        "0:\n\t"
        "strd   r4, r5, [r7, #16]\n\t"
        "ldr    r1, [r7, #40]\n\t"
        "ldr    r2, [r7, #4]\n\t"

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
        "ldr    r4, [r4, r2]\n\t"
        USMP_DSP_TAP("r4", "r6")
        "bx     r5\n\t"
        ".balign 4\n\t"
        "3:\n\t"
        ".rept  4\n\t" /* 80 bytes of code for each pair of taps */
        "ldrd   r4, r5, [r0], #8\n\t"
        "ldrd   r6, r12, [r1], #8\n\t"
        "ldr.w  r4, [r4, r2]\n\t"
        "ldr.w  r5, [r5, r2]\n\t"
        USMP_DSP_TAP("r4", "r6")
        USMP_DSP_TAP("r5", "r12")
        ".endr\n\t"
        "subs.w r3, r3, #1\n\t"
        "bne.w  3b\n\t"

        "ldr    r7, [sp]\n\t" /* the sums become outputs */
        "ldm    r1!, {r3, r4, r5, r6, r12}\n\t"
        "ldrd   lr, r0, [r7, #44]\n\t"
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
        "ldrd   r12, r3, [r7, #24]\n\t"
        ".irp   sum, r8, r9, r10, r11\n\t"
        "add    \\sum, \\sum, lr\n\t"
        "ssat   \\sum, #8, \\sum, asr #1\n\t"
        ".endr\n\t"
        "bfi    r8, r9, #8, #8\n\t"
        "bfi    r8, r10, #16, #8\n\t"
        "bfi    r8, r11, #24, #8\n\t"
        "cbz    r0, 4f\n\t"
        "ldrd   r4, r5, [r7, #52]\n\t"
        USMP_DSP_LIMITS("r8", "r4", "r5", "r6")

        "4:\n\t"
        "str    r8, [r12]\n\t"
        "add    r12, r12, r3\n\t"
        "add    r2, r2, r3\n\t"
        "str    r12, [r7, #24]\n\t"
        "ldrd   r3, r4, [r7, #32]\n\t"
        "add    r1, r1, r4\n\t"
        "cmp    r1, r3\n\t"
        "bne.w  1b\n\t"
        "ldrd   r3, r4, [r7, #64]\n\t" /* the next pixel */
        "ldr    r5, [r7, #72]\n\t"
        "ldr    r1, [r7, #40]\n\t"
        "add    r2, r2, r4\n\t"
        "add    r12, r12, r5\n\t"
        "str    r12, [r7, #24]\n\t"
        "subs   r3, #1\n\t"
        "str    r3, [r7, #64]\n\t"
        "bne.w  1b\n\t"
        "pop    {r0, r4-r11, pc}\n\t"

        "6:\n\t" /* sums become outputs, by factors of 1/2 or more */
        USMP_DSP_STEEP("r8", "r3", "r12", "r7")
        USMP_DSP_STEEP("r9", "r4", "r12", "r7")
        USMP_DSP_STEEP("r10", "r5", "r12", "r7")
        USMP_DSP_STEEP("r11", "r6", "r12", "r7")
        "ldr    r7, [sp]\n\t"
        "b.w    5b\n\t");
#else
    const int8_t low = (int8_t)(blocks->low & 0xff);
    const int8_t high = (int8_t)(blocks->high & 0xff);
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
                sums[i] += blocks->taps[tap][blocks->offset + i] * (int8_t)(weights[tap] >> 8 * i & 0xff);
            }
        }
        for (int32_t i = 0; i < 4; ++i) {
            const int32_t byte = factors[4] >> 8 * i & 0xff;
            const int32_t result = usmp_output_s8_dsp(sums[i], factors[i], byte, blocks->rounding);
            blocks->output[i] = (int8_t)(result < low ? low : result > high ? high : result);
        }
        blocks->offset += blocks->step;
        blocks->output += blocks->step;
        at = factors + 5 + blocks->back / 4;
        if ((uintptr_t)at == blocks->end) {
            --blocks->pixels;
            blocks->offset += blocks->offset_step;
            blocks->output += blocks->output_step;
            at = blocks->packed;
        }
    }
#endif
}

/* Makes one channel that is left over.  `packed` has the sum to begin with, multiplier, right shift less 1 or
 * shifts, and a word for each weight. */
static inline int8_t usmp_depthwise_channel_s8_dsp(
    const struct usmp_depthwise_s8_dsp *pixel, const int32_t *packed, int32_t offset)
{
    const int8_t low = (int8_t)(pixel->low & 0xff);
    const int8_t high = (int8_t)(pixel->high & 0xff);
    int32_t sum = packed[0];
    int32_t result;

    for (int32_t tap = 0; tap < pixel->count; ++tap) {
        sum += pixel->taps[tap][offset] * packed[3 + tap];
    }
    result = usmp_output_s8_dsp(sum, packed[1], packed[2], pixel->rounding);
    return (int8_t)(result < low ? low : result > high ? high : result);
}

/* The words in `packed` of a block, and of a channel that is left over. */
static inline int32_t usmp_words_of_four_s8_dsp(int32_t taps)
{
    return 9 + taps;
}

static inline int32_t usmp_words_of_one_s8_dsp(int32_t taps)
{
    return 3 + taps;
}

static inline void usmp_set_limits_s8_dsp(
    struct usmp_depthwise_s8_dsp *pixel, const struct usmp_depthwise_conv_2d_s8_parameters *p)
{
    pixel->rounding = 1 + 2 * p->output_zero_point;
    pixel->low = usmp_four_times_dsp(p->low + p->output_zero_point);
    pixel->high = usmp_four_times_dsp(p->high + p->output_zero_point);
    pixel->is_clamped = p->low + p->output_zero_point > -128 || p->high + p->output_zero_point < 127;
}

/* Repeats each channel of a pixel as often as it has filters, and writes `count` of these bytes from byte `first` on, a
 * multiple of four; with up to 31 bytes more. */
static inline void usmp_repeat_channels_s8_dsp(
    const int8_t *pixel, int32_t multiplier, int32_t first, int32_t count, int8_t *to)
{
    const int8_t *const end = to + count;
    int32_t left = multiplier - first % multiplier;

    pixel += first / multiplier;
    for (; multiplier == 2 && end - to >= 4; to += 4, pixel += 2) {
        const uint32_t four = ((uint32_t)(uint8_t)pixel[0] | (uint32_t)(uint8_t)pixel[1] << 16) * 0x0101u;
        memcpy(to, &four, 4);
    }
    for (; to < end; to += left, left = multiplier, ++pixel) {
        const uint32_t four = (uint32_t)(uint8_t)*pixel * 0x01010101u;

        for (; left > 4; to += 4, left -= 4) {
            memcpy(to, &four, 4);
        }
        memcpy(to, &four, 4);
    }
}

#endif
