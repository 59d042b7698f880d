/* Sums of products of runs of bytes with the filters of all outputs, with Helium. */
#ifndef USMP_DOT_MVE_H
#define USMP_DOT_MVE_H

#include "mve.h"
#include "usmp.h"

/* Makes the first `lanes` outputs of a block, whose filters are a, b, c and d.  A packed block has
 *
 *     a | b | c | d              biases with the input's zero point folded in, words
 *     for each sixteen bytes of each run, 0 after the end of the run and for a filter that is missing:
 *         a a a .. a             sixteen weights
 *         b b b .. b
 *         c c c .. c
 *         d d d .. d
 *     a | b | c | d              multipliers, words
 *     a b c d                    shifts, bytes: negative, to the right
 *
 * Returns where it ends. */
static inline USMP_UNUSED const int8_t *usmp_four_filters_s8_mve(
    const struct usmp_pixels_mve *p, const int8_t *const *runs, int32_t offset, const int8_t *packed, int32_t lanes,
    int8_t *output)
{
    uint32_t sums[4];

    for (int32_t i = 0; i < 4; ++i) {
        sums[i] = (uint32_t)usmp_word_mve(packed, i);
    }
    packed += 16;
    for (int32_t run = 0; run < p->runs; ++run) {
        for (int32_t k = 0; k < p->run; ++k) {
            for (int32_t i = 0; i < 4; ++i) {
                sums[i] += (uint32_t)(runs[run][offset + k] * packed[k / 16 * 64 + 16 * i + k % 16]);
            }
        }
        packed += (p->run + 15) / 16 * 64;
    }
    for (int32_t i = 0; i < lanes; ++i) {
        output[i] = usmp_output_s8_mve(p, sums[i], usmp_word_mve(packed, i), packed[16 + i]);
    }
    return packed + 20;
}

/* Makes pixels of one run each, of at most 64 bytes, which are read once for all filters. */
static USMP_MVE_ASSEMBLY void usmp_dot_short_s8_mve(
    const struct usmp_pixels_mve *p USMP_UNUSED, const int8_t *input USMP_UNUSED,
    int8_t *output USMP_UNUSED)
{
#if USMP_MVE
    __asm__ volatile(
        /* r0 r2 r4 r6 sums, r1 packed, r3 output, r5 zero point, r7 jump, r8 vectors before the last one, r9 input,
         * r10 p, r11 step, r12 blocks; q3 q2 q1 q0 inputs, q4 q5 weights, q6 q7 limits */
        "push           {r4-r11, lr}\n\t"
        "vpush          {d8-d15}\n\t"
        "mov            r10, r0\n\t"
        "mov            r9, r1\n\t" /* input of the pixel */
        "mov            r3, r2\n\t" /* output of the block */
        "ldrd           r7, r5, [r10, %[jump]]\n\t" /* jump, zero point */
        "ldr            r11, [r10, %[step]]\n\t" /* from block to block */
        "ldrd           r0, r1, [r10, %[low]]\n\t"
        "vdup.32        q6, r0\n\t" /* low */
        "vdup.32        q7, r1\n\t" /* high */
        "ldr            r8, [r10, %[run]]\n\t"
        "sub            r8, r8, #1\n\t"
        "and            r0, r8, #15\n\t"
        "add            r0, r0, #1\n\t" /* inputs in the last vector */
        "lsr            r8, r8, #4\n\t" /* vectors before it */
        "ldr            r1, [r10, %[count]]\n\t"
        "push           {r0, r1}\n\t" /* that, pixels */

        "1:\n\t" /* a pixel */
        "ldr            r0, [sp]\n\t" /* inputs of the last vector, which is q0 */
        "vctp.8         r0\n\t"
        "mov            r0, r9\n\t"
        "tbb            [pc, r8]\n\t" /* over vectors that it has not: halfwords */
        ".byte 8, 6, 4, 2\n\t"
        "vldrb.u8       q3, [r0], #16\n\t"
        "vldrb.u8       q2, [r0], #16\n\t"
        "vldrb.u8       q1, [r0], #16\n\t"
        "vpst\n\t"
        "vldrbt.u8      q0, [r0]\n\t" /* other lanes are 0 */
        "ldr            r1, [r10, %[packed]]\n\t"
        "add            r12, r10, %[blocks]\n\t"
        "ldrd           r2, r0, [r12], #8\n\t" /* how many blocks, their channels */

        "2:\n\t" /* blocks of r0 channels */
        "vctp.32        r0\n\t"
        "dls            lr, r2\n\t"

        "3:\n\t" /* a block */
        "ldrd           r0, r2, [r1], #8\n\t" /* biases */
        "ldrd           r4, r6, [r1], #8\n\t"
        "tbb            [pc, r8]\n\t" /* over vectors that it has not: halfwords */
        ".byte 50, 34, 18, 2\n\t"
        ".irp x, q3, q2, q1, q0\n\t"
        "vldrb.u8       q4, [r1], #16\n\t"
        "vmladava.s8    r0, \\x, q4\n\t"
        "vldrb.u8       q5, [r1], #16\n\t"
        "vmladava.s8    r2, \\x, q5\n\t"
        "vldrb.u8       q4, [r1], #16\n\t"
        "vmladava.s8    r4, \\x, q4\n\t"
        "vldrb.u8       q5, [r1], #16\n\t"
        "vmladava.s8    r6, \\x, q5\n\t"
        ".endr\n\t"
        "vmov           q4[2], q4[0], r0, r4\n\t"
        "vmov           q4[3], q4[1], r2, r6\n\t"
        USMP_MVE_SCALE("q4", "q5")
        "vadd.i32       q4, q4, r5\n\t"
        "vmax.s32       q4, q4, q6\n\t"
        "vmin.s32       q4, q4, q7\n\t"
        "vpst\n\t"
        "vstrbt.32      q4, [r3]\n\t"
        "add            r3, r3, r11\n\t"
        "add            r1, r1, r7\n\t"
        "le             lr, 3b\n\t"
        "ldrd           r2, r0, [r12], #8\n\t"
        "cmp            r2, #0\n\t"
        "bne            2b\n\t"
        USMP_MVE_NEXT_PIXEL("r9", "8")
        :
        : USMP_MVE_PIXELS);
#else
    int8_t held[64];
    const int8_t *const run = held;

    for (int32_t left = p->count; left != 0; --left, input += p->input_step, output += p->output_step) {
        const int8_t *stream = p->packed;

        for (int32_t i = 0; i < p->run; ++i) {
            held[i] = input[i];
        }
        for (const int32_t *blocks = p->blocks; blocks[0] != 0; blocks += 2) {
            for (int32_t blocks_left = blocks[0]; blocks_left != 0; --blocks_left, output += p->step) {
                stream = usmp_four_filters_s8_mve(p, &run, 0, stream, blocks[1], output) + p->jump;
            }
        }
    }
#endif
}

/* Makes pixels of several runs of any length, each at the offset of the pixel. */
static USMP_MVE_ASSEMBLY void usmp_dot_s8_mve(
    const struct usmp_pixels_mve *p USMP_UNUSED, const int8_t *const *runs USMP_UNUSED,
    int32_t offset USMP_UNUSED, int8_t *output USMP_UNUSED)
{
#if USMP_MVE
    __asm__ volatile(
        /* r0 r2 r4 r6 sums, r1 packed, r3 output, r5 run, r7 runs, r8 offset, r9 runs left, r10 p, r11 blocks left,
         * r12 input; q0 inputs, q1 q2 weights, q4 q5 limits */
        "push           {r4-r11, lr}\n\t"
        "vpush          {d8-d15}\n\t"
        "mov            r10, r0\n\t"
        "mov            r8, r2\n\t" /* offset of the pixel */
        "ldrd           r4, r5, [r10, %[low]]\n\t"
        "vdup.32        q4, r4\n\t" /* low */
        "vdup.32        q5, r5\n\t" /* high */
        "ldr            r5, [r10, %[run]]\n\t" /* inputs of a run */
        "ldr            r4, [r10, %[count]]\n\t"
        "sub            sp, sp, #16\n\t"
        "strd           r1, r4, [sp]\n\t" /* runs, pixels */

        "1:\n\t" /* a pixel */
        "ldr            r1, [r10, %[packed]]\n\t"
        "add            r12, r10, %[blocks]\n\t"
        "ldrd           r11, r0, [r12], #8\n\t" /* how many blocks, their channels */

        "2:\n\t" /* blocks of r0 channels */
        "str            r12, [sp, #8]\n\t"
        "vctp.32        r0\n\t"

        "3:\n\t" /* a block */
        "ldrd           r0, r2, [r1], #8\n\t" /* biases */
        "ldrd           r4, r6, [r1], #8\n\t"
        "ldr            r7, [sp]\n\t"
        "ldr            r9, [r10, %[runs]]\n\t"

        "4:\n\t" /* a run */
        "ldr            r12, [r7], #4\n\t"
        "add            r12, r12, r8\n\t"
        "dlstp.8        lr, r5\n\t"

        "5:\n\t" /* sixteen inputs */
        "vldrb.u8       q0, [r12], #16\n\t"
        "vldrb.u8       q1, [r1], #16\n\t"
        "vmladava.s8    r0, q0, q1\n\t"
        "vldrb.u8       q2, [r1], #16\n\t"
        "vmladava.s8    r2, q0, q2\n\t"
        "vldrb.u8       q1, [r1], #16\n\t"
        "vmladava.s8    r4, q0, q1\n\t"
        "vldrb.u8       q2, [r1], #16\n\t"
        "vmladava.s8    r6, q0, q2\n\t"
        "letp           lr, 5b\n\t"
        "subs           r9, r9, #1\n\t"
        "bne            4b\n\t"
        "vmov           q0[2], q0[0], r0, r4\n\t"
        "vmov           q0[3], q0[1], r2, r6\n\t"
        USMP_MVE_SCALE("q0", "q1")
        "ldrd           r0, r2, [r10, %[jump]]\n\t" /* jump, zero point */
        "ldr            r4, [r10, %[step]]\n\t" /* from block to block */
        "vadd.i32       q0, q0, r2\n\t"
        "vmax.s32       q0, q0, q4\n\t"
        "vmin.s32       q0, q0, q5\n\t"
        "vpst\n\t"
        "vstrbt.32      q0, [r3]\n\t"
        "add            r3, r3, r4\n\t"
        "add            r1, r1, r0\n\t"
        "subs           r11, r11, #1\n\t"
        "bne            3b\n\t"
        "ldr            r12, [sp, #8]\n\t"
        "ldrd           r11, r0, [r12], #8\n\t"
        "cmp            r11, #0\n\t"
        "bne            2b\n\t"
        USMP_MVE_NEXT_PIXEL("r8", "16")
        :
        : USMP_MVE_PIXELS);
#else
    for (int32_t left = p->count; left != 0; --left, offset += p->input_step, output += p->output_step) {
        const int8_t *stream = p->packed;

        for (const int32_t *blocks = p->blocks; blocks[0] != 0; blocks += 2) {
            for (int32_t blocks_left = blocks[0]; blocks_left != 0; --blocks_left, output += p->step) {
                stream = usmp_four_filters_s8_mve(p, runs, offset, stream, blocks[1], output) + p->jump;
            }
        }
    }
#endif
}

#endif
