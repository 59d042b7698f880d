/* Sums of products of int16 under a window with the filters of all outputs, with Arm's DSP extension. */
#ifndef USMP_DOT_S16_DSP_H
#define USMP_DOT_S16_DSP_H

#include "assembly.h"
#include "conv_2d_dsp.h"
#include "dsp.h"
#include "usmp.h"
#include "window.h"

/* Pixels, and the blocks of four outputs to make of each.  Steps are in elements.  The assembly loads members in
 * pairs. */
struct usmp_pixels_s16_dsp {
    const usmp_i16 *input;       /* the first run of elements of the first pixel */
    int32_t other_runs;          /* the number of further runs, all equally long */
    int32_t runs_left;           /* for the function alone */
    const usmp_i16 *const *runs; /* the further runs, the last one first */
    const int32_t *packed;       /* the first block */
    uintptr_t end;               /* where the block after the last one begins */
    int32_t back;                /* bytes from the end of a block to the beginning of the next one */
    usmp_i16 *output;            /* of the first block of the first pixel */
    int32_t step;                /* from the outputs of a block to those of the next one */
    int32_t loops;               /* over four words of a run; all but its last word */
    uintptr_t entry;             /* for the function alone */
    int32_t skip;                /* bytes of code that the first loop leaves out */
    int32_t rest;                /* bytes from where the last word of a run would begin to where it does: -2 or 0 */
    int32_t flags;               /* 1 if limits of outputs are not those of int16, 2 if the last block is short */
    int32_t low;
    int32_t high;
    int32_t pixels;              /* if more than one, each has but one run */
    int32_t input_step;          /* from a pixel to the next one */
    int32_t output_step;         /* from where the block after the last one would go to the next pixel */
    int32_t words;               /* of a run */
    int32_t short_outputs;       /* of the last block, which has fewer than four */
    uintptr_t short_end;         /* where it ends; 0 if there is none */
};

/* Says how long all runs are: at least two elements. */
static inline void usmp_set_runs_s16_dsp(struct usmp_pixels_s16_dsp *dot, int32_t other_runs, int32_t elements)
{
    const int32_t whole = (elements - 1) / 2; /* words but the last one */

    dot->other_runs = other_runs;
    dot->words = whole + 1;
    dot->loops = (whole + 3) / 4;
    dot->skip = whole == 0 ? 32 * 4 + 8 : 32 * (4 * dot->loops - whole);
    dot->rest = 2 * elements - 4 - 4 * whole;
}

static inline void usmp_set_outputs_s16_dsp(
    struct usmp_pixels_s16_dsp *dot, const struct usmp_conv_2d_s16_dsp_parameters *p, int32_t block)
{
    (void)block;
    dot->low = p->low;
    dot->high = p->high;
    dot->flags = p->is_clamped;
}

/* The input's zero point is 0. */
static inline void usmp_set_zero_point_s16_dsp(
    struct usmp_pixels_s16_dsp *dot, const struct usmp_conv_2d_s16_dsp_parameters *p)
{
    (void)dot;
    (void)p;
}

/* Makes a run of each row of the window.  Returns 0 where it is not inside of the image. */
static inline int usmp_join_rows_s16_dsp(
    struct usmp_pixels_s16_dsp *dot, const struct usmp_conv_2d_s16_dsp_parameters *p, const usmp_i16 *const *rows,
    struct usmp_taps inside, int32_t start, const usmp_i16 **runs)
{
    const int32_t height = p->window_height;

    if (inside.end - inside.first < height || start < 0 || start + p->window_width > p->input_width) {
        return 0;
    }
    for (int32_t y = 0; y < height; ++y) {
        runs[height - 1 - y] = rows[y] + start * p->input_channels;
    }
    usmp_set_runs_s16_dsp(dot, height - 1, p->window_width * p->input_channels);
    return 1;
}

/* The words of a block for pixels of `runs` runs. */
static inline int32_t usmp_block_s16_dsp(int32_t runs, int32_t elements)
{
    return 6 + 2 * runs * ((elements + 1) / 2) + 4;
}

/* Adds a word of input that is loaded to r3: 8 instructions, 32 bytes of code, for 8 products. */
#define USMP_DSP_WORD_OF_INT16(LOAD) \
    "ldrd   r4, r5, [r1], #8\n\t" \
    LOAD "\n\t" \
    "smlald r7, r8, r3, r4\n\t" \
    "sxtb16 r4, r4\n\t" \
    "smlad  r9, r3, r4, r9\n\t" \
    "smlald r10, r11, r3, r5\n\t" \
    "sxtb16 r5, r5\n\t" \
    "smlad  r12, r3, r5, r12\n\t"

/* Makes the outputs of all these blocks, four at a time; a, b, c, d are their filters.  `packed` has for each block
 *
 *     256 * A + B (64 bits),  B,  256 * C + D (64 bits),  D     sums to begin with: biases
 *     for each word of input, elements k and k + 1, two words; a lane of 16 bits holds two weights:
 *         256 * a[k + 1] + b[k + 1]  |  256 * a[k] + b[k]
 *         the same of c and d
 *     multipliers of a, b, c, d
 *
 * The word itself sums up 256 * A + B in 64 bits, and SXTB16 of it leaves b's weights, whose sum B has 32 bits.  Then
 * A = ((256 * A + B) - B) / 256.  A multiplier is that of usmp_scale_wide, shifted so that the upper half of its product
 * with a sum, rounded, is the output.
 *
 * The last block may have fewer than four outputs: the others are made, and not written. */
static USMP_ASSEMBLY_OR_INLINE void usmp_dot_s16_dsp(struct usmp_pixels_s16_dsp *dot USMP_UNUSED)
{
#if USMP_DSP
    __asm__ volatile(
        /* r0 input, r1 packed, r2 loops, r3 elements, r4 r5 weights, r7:r8 r9 r10:r11 r12 sums, lr dot */
        "push   {r4-r11, lr}\n\t"
        "mov    lr, r0\n\t"
        "adr    r3, 3f\n\t"
        "ldr    r2, [lr, %[skip]]\n\t"
        "adds   r3, r3, r2\n\t"
        "adds   r3, #1\n\t" /* an address of Thumb code */
        "str    r3, [lr, %[entry]]\n\t"
        "ldr    r1, [lr, %[packed]]\n\t"

        "1:\n\t" /* a block of four outputs */
        "ldm    r1!, {r7, r8, r9, r10, r11, r12}\n\t"
        "ldrd   r0, r2, [lr, %[input]]\n\t" /* and other_runs */
        "str    r2, [lr, %[runs_left]]\n\t"

        "2:\n\t" /* a run */
        "ldrd   r2, r3, [lr, %[loops]]\n\t" /* and entry */
        "bx     r3\n\t"
        ".balign 4\n\t"
        "3:\n\t"
        ".rept  4\n\t"
        USMP_DSP_WORD_OF_INT16("ldr.w r3, [r0], #4")
        ".endr\n\t"
        "subs.w r2, r2, #1\n\t"
        "bne.w  3b\n\t"
        "ldr    r2, [lr, %[rest]]\n\t" /* the last word of the run */
        USMP_DSP_WORD_OF_INT16("ldr.w r3, [r0, r2]")
        "ldr    r2, [lr, %[runs_left]]\n\t"
        "cbz    r2, 4f\n\t"
        "ldr    r3, [lr, %[runs]]\n\t" /* the next run */
        "subs   r2, #1\n\t"
        "str    r2, [lr, %[runs_left]]\n\t"
        "ldr    r0, [r3, r2, lsl #2]\n\t"
        "b      2b\n\t"

        "4:\n\t" /* the sums of a and c */
        "subs   r7, r7, r9\n\t"
        "sbc    r8, r8, r9, asr #31\n\t"
        "subs   r10, r10, r12\n\t"
        "sbc    r11, r11, r12, asr #31\n\t"
        "lsr    r7, r7, #8\n\t"
        "lsr    r10, r10, #8\n\t"
        "orr    r7, r7, r8, lsl #24\n\t"
        "orr    r10, r10, r11, lsl #24\n\t"

        "ldm    r1!, {r2, r3, r4, r5}\n\t" /* sums become outputs */
        "ldr    r0, [lr, %[flags]]\n\t"
        "smmulr r7, r7, r2\n\t"
        "smmulr r9, r9, r3\n\t"
        "smmulr r10, r10, r4\n\t"
        "smmulr r12, r12, r5\n\t"
        "ssat   r7, #16, r7\n\t"
        "ssat   r9, #16, r9\n\t"
        "ssat   r10, #16, r10\n\t"
        "ssat   r12, #16, r12\n\t"
        "cbnz   r0, 7f\n\t"
        "5:\n\t"
        "ldrd   r2, r3, [lr, %[output]]\n\t" /* and step */
        "strh   r7, [r2]\n\t"
        "strh   r9, [r2, #2]\n\t"
        "strh   r10, [r2, #4]\n\t"
        "strh   r12, [r2, #6]\n\t"
        "8:\n\t"
        "add    r2, r2, r3, lsl #1\n\t"
        "str    r2, [lr, %[output]]\n\t"
        "ldrd   r2, r3, [lr, %[end]]\n\t" /* and back */
        "add    r1, r1, r3\n\t"
        "cmp    r1, r2\n\t"
        "bne.w  1b\n\t"
        "ldr    r0, [lr, %[pixels]]\n\t" /* the next pixel */
        "subs   r0, #1\n\t"
        "beq    6f\n\t"
        "str    r0, [lr, %[pixels]]\n\t"
        "ldrd   r2, r3, [lr, %[input_step]]\n\t" /* and output_step */
        "ldr    r0, [lr, %[input]]\n\t"
        "ldr    r4, [lr, %[output]]\n\t"
        "add    r0, r0, r2, lsl #1\n\t"
        "add    r4, r4, r3, lsl #1\n\t"
        "str    r0, [lr, %[input]]\n\t"
        "str    r4, [lr, %[output]]\n\t"
        "ldr    r1, [lr, %[packed]]\n\t"
        "b.w    1b\n\t"
        "7:\n\t" /* limits, and a short block */
        "lsrs   r0, r0, #1\n\t"
        "bcc    9f\n\t"
        "ldrd   r2, r3, [lr, %[low]]\n\t"
        ".irp   sum, r7, r9, r10, r12\n\t"
        USMP_DSP_LIMIT("\\sum", "r2", "r3")
        ".endr\n\t"
        "9:\n\t"
        "ldr    r2, [lr, %[short_end]]\n\t"
        "cmp    r1, r2\n\t"
        "bne    5b\n\t"
        "ldrd   r2, r3, [lr, %[output]]\n\t" /* and step */
        "ldr    r0, [lr, %[short_outputs]]\n\t"
        "strh   r7, [r2]\n\t"
        "cmp    r0, #2\n\t"
        "it     ge\n\t"
        "strhge r9, [r2, #2]\n\t"
        "it     gt\n\t"
        "strhgt r10, [r2, #4]\n\t"
        "b      8b\n\t"
        "6:\n\t"
        "pop    {r4-r11, pc}\n\t"
        :
        : USMP_OFFSET(usmp_pixels_s16_dsp, input), USMP_OFFSET(usmp_pixels_s16_dsp, runs_left),
        USMP_OFFSET(usmp_pixels_s16_dsp, runs), USMP_OFFSET(usmp_pixels_s16_dsp, packed),
        USMP_OFFSET(usmp_pixels_s16_dsp, end), USMP_OFFSET(usmp_pixels_s16_dsp, output),
        USMP_OFFSET(usmp_pixels_s16_dsp, loops), USMP_OFFSET(usmp_pixels_s16_dsp, entry),
        USMP_OFFSET(usmp_pixels_s16_dsp, skip), USMP_OFFSET(usmp_pixels_s16_dsp, rest),
        USMP_OFFSET(usmp_pixels_s16_dsp, flags), USMP_OFFSET(usmp_pixels_s16_dsp, low),
        USMP_OFFSET(usmp_pixels_s16_dsp, pixels), USMP_OFFSET(usmp_pixels_s16_dsp, input_step),
        USMP_OFFSET(usmp_pixels_s16_dsp, short_outputs), USMP_OFFSET(usmp_pixels_s16_dsp, short_end));
#else
    const int32_t *at = dot->packed;

    while (dot->pixels > 0) {
        uint64_t both[2];
        uint32_t lower[2];
        int is_short;

        for (int32_t i = 0; i < 2; ++i, at += 3) {
            both[i] = (uint32_t)at[0] | (uint64_t)(uint32_t)at[1] << 32;
            lower[i] = (uint32_t)at[2];
        }
        for (int32_t run = dot->other_runs; run >= 0; --run) {
            const usmp_i16 *const input = run == dot->other_runs ? dot->input : dot->runs[run];
            for (int32_t word = 0; word < dot->words; ++word) {
                const usmp_i16 *const x = input + 2 * word + (word == dot->words - 1 ? dot->rest / 2 : 0);
                for (int32_t i = 0; i < 2; ++i, ++at) {
                    const uint32_t weights = (uint32_t)*at;
                    both[i] += (uint64_t)((int64_t)x[0] * (int16_t)(weights & 0xffff));
                    both[i] += (uint64_t)((int64_t)x[1] * (int16_t)(weights >> 16));
                    lower[i] += (uint32_t)(x[0] * (int8_t)(weights & 0xff));
                    lower[i] += (uint32_t)(x[1] * (int8_t)(weights >> 16 & 0xff));
                }
            }
        }
        is_short = (uintptr_t)(at + 4) == dot->short_end;
        for (int32_t i = 0; i < (is_short ? dot->short_outputs : 4); ++i) {
            const int32_t low = (int32_t)lower[i / 2];
            const int32_t sum = i % 2 == 1 ? low : (int32_t)(((int64_t)both[i / 2] - low) >> 8);
            const int32_t result = usmp_scaled_s16_dsp(sum, at[i]);
            dot->output[i] = (usmp_i16)(result < dot->low ? dot->low : result > dot->high ? dot->high : result);
        }
        dot->output += dot->step;
        at += 4 + dot->back / 4;
        if ((uintptr_t)at == dot->end && --dot->pixels > 0) {
            dot->input += dot->input_step;
            dot->output += dot->output_step;
            at = dot->packed;
        }
    }
#endif
}

#endif
