/* Sums of products where each channel has its own filter, with Helium. */
#ifndef USMP_CHANNELS_MVE_H
#define USMP_CHANNELS_MVE_H

#include "mve.h"
#include "usmp.h"

/* Makes the first `lanes` outputs of a block of `size` channels, eight or sixteen.  A packed block has
 *
 *     0 | 4 | 8 | C | 2 | 6 | A | E | 1 | 5 | 9 | D | 3 | 7 | B | F    biases with the input's zero point folded in
 *     0 1 2 3 4 5 6 7 8 9 A B C D E F                                  weights of each tap, bytes
 *     0 | 4 | 8 | C   0 4 8 C   2 | 6 ..                               multipliers, and negative shifts in bytes
 *
 * in the order in which even and odd lanes, and then theirs, are widened; for eight channels it is
 * 0 2 4 6, 1 3 5 7.  Channels that are missing are 0.  Returns where it ends. */
static inline USMP_UNUSED const int8_t *usmp_channels_s8_mve(
    const struct usmp_pixels_mve *p, const int8_t *const *taps, int32_t offset, const int8_t *stream, int32_t size,
    int32_t lanes, int8_t *output)
{
    const int8_t *const weights = stream + 4 * size;
    const int8_t *const factors = weights + p->runs * size;
    int8_t outputs[16];

    for (int32_t i = 0; i < size; ++i) {
        const int32_t vector = i / 4;
        const int32_t c = size == 8 ? i % 4 * 2 + vector : i % 4 * 4 + vector % 2 * 2 + vector / 2;
        uint32_t sum = (uint32_t)usmp_word_mve(stream, i);

        for (int32_t tap = 0; tap < p->runs && c < lanes; ++tap) {
            sum += (uint32_t)(taps[tap][offset + c] * weights[tap * size + c]);
        }
        outputs[c] = usmp_output_s8_mve(
            p, sum, usmp_word_mve(factors + 20 * vector, i % 4), factors[20 * vector + 16 + i % 4]);
    }
    for (int32_t c = 0; c < lanes; ++c) {
        output[c] = outputs[c];
    }
    return factors + 5 * size;
}

/* Makes pixels of taps, each at the offset of the pixel, `size` channels at a time. */
static inline USMP_UNUSED void usmp_channels_of_pixels_s8_mve(
    const struct usmp_pixels_mve *p, const int8_t *const *taps, int32_t offset, int32_t size, int8_t *output)
{
    for (int32_t left = p->count; left != 0; --left, offset += p->input_step, output += p->output_step) {
        const int8_t *stream = p->packed;
        int32_t from = offset;

        for (const int32_t *blocks = p->blocks; blocks[0] != 0; blocks += 2) {
            for (int32_t blocks_left = blocks[0]; blocks_left != 0; --blocks_left, from += p->step, output += p->step) {
                stream = usmp_channels_s8_mve(p, taps, from, stream, size, blocks[1], output) + p->jump;
            }
        }
    }
}

/* What comes before the work on a block, in lanes of BITS, at 3: r1 packed, r2 r4 taps, r3 output, r5 pairs of taps,
 * r6 whether there is a tap without a partner, r7 pointers to taps, r8 offset of the pixel, r9 of the block, r10 p,
 * r11 blocks left, r12 blocks. */
#define USMP_MVE_CHANNELS_BEGIN(BITS) \
    "push           {r4-r11, lr}\n\t" \
    "vpush          {d8-d15}\n\t" \
    "mov            r10, r0\n\t" \
    "mov            r8, r2\n\t" \
    "ldr            r5, [r10, %[runs]]\n\t" \
    "and            r6, r5, #1\n\t" \
    "lsr            r5, r5, #1\n\t" \
    "ldr            r2, [r10, %[count]]\n\t" \
    "push           {r1, r2}\n\t" /* taps, pixels */ \
    "1:\n\t" /* a pixel */ \
    "ldr            r1, [r10, %[packed]]\n\t" \
    "add            r12, r10, %[blocks]\n\t" \
    "ldrd           r11, r0, [r12], #8\n\t" /* how many blocks, their channels */ \
    "mov            r9, r8\n\t" \
    "2:\n\t" /* blocks of r0 channels */ \
    "vctp." BITS "  r0\n\t" \
    "3:\n\t"

/* And after it: q0 has the outputs of the block, r4 the jump to the next one. */
#define USMP_MVE_CHANNELS_END(BITS) \
    "vpst\n\t" \
    "vstrbt." BITS " q0, [r3]\n\t" \
    "ldr            r0, [r10, %[step]]\n\t" \
    "add            r3, r3, r0\n\t" \
    "add            r9, r9, r0\n\t" \
    "add            r1, r1, r4\n\t" \
    "subs           r11, r11, #1\n\t" \
    "bne            3b\n\t" \
    "ldrd           r11, r0, [r12], #8\n\t" \
    "cmp            r11, #0\n\t" \
    "bne            2b\n\t" \
    USMP_MVE_NEXT_PIXEL("r8", "8")

/* Makes pixels as usmp_channels_of_pixels_s8_mve does, eight channels at a time. */
static USMP_MVE_ASSEMBLY void usmp_eights_s8_mve(
    const struct usmp_pixels_mve *p USMP_UNUSED, const int8_t *const *taps USMP_UNUSED,
    int32_t offset USMP_UNUSED, int8_t *output USMP_UNUSED)
{
#if USMP_MVE
    __asm__ volatile(
        /* q0 q1 sums, q2 q3 inputs, q4 q5 weights */
        USMP_MVE_CHANNELS_BEGIN("16")
        "vldrw.u32      q0, [r1], #16\n\t" /* biases of channels 0 2 4 6 */
        "vldrw.u32      q1, [r1], #16\n\t" /* 1 3 5 7 */
        "ldr            r7, [sp]\n\t"
        "wls            lr, r5, 5f\n\t"

        "4:\n\t" /* two taps */
        "ldrd           r2, r4, [r7], #8\n\t"
        "add            r2, r2, r9\n\t"
        "add            r4, r4, r9\n\t"
        "vpstt\n\t"
        "vldrbt.s16     q2, [r2]\n\t" /* other lanes are 0 */
        "vldrbt.s16     q3, [r4]\n\t"
        "vldrb.s16      q4, [r1], #8\n\t"
        "vmul.i16       q2, q2, q4\n\t"
        "vldrb.s16      q5, [r1], #8\n\t"
        "vmul.i16       q3, q3, q5\n\t"
        "vadd.i16       q2, q2, q3\n\t" /* of two taps, the sum has 16 bits */
        "vmovlb.s16     q3, q2\n\t"
        "vadd.i32       q0, q0, q3\n\t"
        "vmovlt.s16     q3, q2\n\t"
        "vadd.i32       q1, q1, q3\n\t"
        "le             lr, 4b\n\t"

        "5:\n\t" /* the last tap */
        "cbz            r6, 6f\n\t"
        "ldr            r2, [r7]\n\t"
        "add            r2, r2, r9\n\t"
        "vpst\n\t"
        "vldrbt.s16     q2, [r2]\n\t"
        "vldrb.s16      q4, [r1], #8\n\t"
        "vmul.i16       q2, q2, q4\n\t"
        "vmovlb.s16     q3, q2\n\t"
        "vadd.i32       q0, q0, q3\n\t"
        "vmovlt.s16     q3, q2\n\t"
        "vadd.i32       q1, q1, q3\n\t"

        "6:\n\t" /* outputs */
        USMP_MVE_SCALE("q0", "q2")
        USMP_MVE_SCALE("q1", "q2")
        "ldrd           r4, r2, [r10, %[jump]]\n\t" /* jump, zero point */
        "vqmovnb.s32    q0, q0\n\t"
        "vqmovnt.s32    q0, q1\n\t" /* 0 1 2 3 4 5 6 7 */
        "vdup.16        q1, r2\n\t"
        "vqadd.s16      q0, q0, q1\n\t"
        "ldrd           r2, r0, [r10, %[low]]\n\t"
        "vdup.16        q1, r2\n\t"
        "vmax.s16       q0, q0, q1\n\t"
        "vdup.16        q1, r0\n\t"
        "vmin.s16       q0, q0, q1\n\t"
        USMP_MVE_CHANNELS_END("16")
        :
        : USMP_MVE_PIXELS);
#else
    usmp_channels_of_pixels_s8_mve(p, taps, offset, 8, output);
#endif
}

/* The same, sixteen channels at a time. */
static USMP_MVE_ASSEMBLY void usmp_sixteens_s8_mve(
    const struct usmp_pixels_mve *p USMP_UNUSED, const int8_t *const *taps USMP_UNUSED,
    int32_t offset USMP_UNUSED, int8_t *output USMP_UNUSED)
{
#if USMP_MVE
    __asm__ volatile(
        /* q0 to q3 sums, q4 q5 inputs, q6 q7 sums of a pair */
        USMP_MVE_CHANNELS_BEGIN("8")
        "vldrw.u32      q0, [r1], #16\n\t" /* biases of channels 0 4 8 C */
        "vldrw.u32      q1, [r1], #16\n\t" /* 2 6 A E */
        "vldrw.u32      q2, [r1], #16\n\t" /* 1 5 9 D */
        "vldrw.u32      q3, [r1], #16\n\t" /* 3 7 B F */
        "ldr            r7, [sp]\n\t"
        "wls            lr, r5, 5f\n\t"

        "4:\n\t" /* two taps */
        "ldrd           r2, r4, [r7], #8\n\t"
        "add            r2, r2, r9\n\t"
        "add            r4, r4, r9\n\t"
        "vpstt\n\t"
        "vldrbt.u8      q4, [r2]\n\t" /* other lanes are 0 */
        "vldrbt.u8      q5, [r4]\n\t"
        "vldrb.u8       q6, [r1], #16\n\t"
        "vmullt.s8      q7, q4, q6\n\t" /* odd channels */
        "vmullb.s8      q6, q4, q6\n\t" /* even channels */
        "vldrb.u8       q4, [r1]\n\t"
        "vmullb.s8      q4, q5, q4\n\t"
        "vadd.i16       q6, q6, q4\n\t" /* of two taps, the sum has 16 bits */
        "vldrb.u8       q4, [r1], #16\n\t"
        "vmullt.s8      q4, q5, q4\n\t"
        "vadd.i16       q7, q7, q4\n\t"
        "vmovlb.s16     q4, q6\n\t"
        "vadd.i32       q0, q0, q4\n\t"
        "vmovlt.s16     q4, q6\n\t"
        "vadd.i32       q1, q1, q4\n\t"
        "vmovlb.s16     q4, q7\n\t"
        "vadd.i32       q2, q2, q4\n\t"
        "vmovlt.s16     q4, q7\n\t"
        "vadd.i32       q3, q3, q4\n\t"
        "le             lr, 4b\n\t"

        "5:\n\t" /* the last tap */
        "cbz            r6, 6f\n\t"
        "ldr            r2, [r7]\n\t"
        "add            r2, r2, r9\n\t"
        "vpst\n\t"
        "vldrbt.u8      q4, [r2]\n\t"
        "vldrb.u8       q6, [r1], #16\n\t"
        "vmullt.s8      q7, q4, q6\n\t"
        "vmullb.s8      q6, q4, q6\n\t"
        "vmovlb.s16     q4, q6\n\t"
        "vadd.i32       q0, q0, q4\n\t"
        "vmovlt.s16     q4, q6\n\t"
        "vadd.i32       q1, q1, q4\n\t"
        "vmovlb.s16     q4, q7\n\t"
        "vadd.i32       q2, q2, q4\n\t"
        "vmovlt.s16     q4, q7\n\t"
        "vadd.i32       q3, q3, q4\n\t"

        "6:\n\t" /* outputs */
        USMP_MVE_SCALE("q0", "q4")
        USMP_MVE_SCALE("q1", "q4")
        USMP_MVE_SCALE("q2", "q4")
        USMP_MVE_SCALE("q3", "q4")
        "ldrd           r4, r2, [r10, %[jump]]\n\t" /* jump, zero point */
        "vqmovnb.s32    q0, q0\n\t"
        "vqmovnt.s32    q0, q1\n\t" /* 0 2 4 6 8 A C E */
        "vqmovnb.s32    q2, q2\n\t"
        "vqmovnt.s32    q2, q3\n\t" /* 1 3 5 7 9 B D F */
        "vdup.16        q1, r2\n\t"
        "vqadd.s16      q0, q0, q1\n\t"
        "vqadd.s16      q2, q2, q1\n\t"
        "vqmovnb.s16    q0, q0\n\t"
        "vqmovnt.s16    q0, q2\n\t"
        "ldrd           r2, r0, [r10, %[low]]\n\t"
        "vdup.8         q1, r2\n\t"
        "vmax.s8        q0, q0, q1\n\t"
        "vdup.8         q1, r0\n\t"
        "vmin.s8        q0, q0, q1\n\t"
        USMP_MVE_CHANNELS_END("8")
        :
        : USMP_MVE_PIXELS);
#else
    usmp_channels_of_pixels_s8_mve(p, taps, offset, 16, output);
#endif
}

#endif
