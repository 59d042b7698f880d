/* Sums of products for four filters at once: what was read of the input serves four outputs. */
#ifndef USMP_PRODUCTS_H
#define USMP_PRODUCTS_H

#include "dsp.h"
#include "mve.h"
#include "products_f32.h"
#include "usmp.h"

/* Points at the filters of a block of `lanes` outputs, of `size` weights each; those of a short block end with its last
 * one. */
static inline void usmp_point_at_filters(const int8_t *first, int32_t size, int32_t lanes, const int8_t **filters)
{
    filters[0] = first;
    filters[1] = filters[0] + (lanes > 1 ? size : 0);
    filters[2] = filters[1] + (lanes > 2 ? size : 0);
    filters[3] = filters[2] + (lanes > 3 ? size : 0);
}

/* Whether compilers make SIMD of blocks of 16 inputs, some even at -O2.  Elsewhere one short loop is as fast, and needs
 * no more registers than a Cortex-M has. */
#if defined(__SSE2__) || defined(__ARM_NEON) || defined(__riscv_vector) || defined(_M_X64) || defined(_M_ARM64)
#define USMP_SIMD 1
#else
#define USMP_SIMD 0
#endif

/* Adds to a sum the products of four inputs with the next weights of a filter: r1 holds inputs 0 and 2, r2 1 and 3. */
#define USMP_DSP_FILTER(WEIGHTS, SUM) \
    "ldr     r12, [" WEIGHTS "], #4\n\t" \
    "sxtb16  lr, r12\n\t" \
    "sxtb16  r12, r12, ror #8\n\t" \
    "smlad   " SUM ", r1, lr, " SUM "\n\t" \
    "smlad   " SUM ", r2, r12, " SUM "\n\t"

/* Adds to four sums the products of these inputs. */
#define USMP_DSP_FOUR_INPUTS \
    USMP_DSP_FILTER("r4", "r8") \
    USMP_DSP_FILTER("r5", "r9") \
    USMP_DSP_FILTER("r6", "r10") \
    USMP_DSP_FILTER("r7", "r11")

/* Adds to four sums the products of one input, in r2. */
#define USMP_DSP_ONE_INPUT \
    "ldrsb   r12, [r4], #1\n\t" \
    "mla     r8, r2, r12, r8\n\t" \
    "ldrsb   r12, [r5], #1\n\t" \
    "mla     r9, r2, r12, r9\n\t" \
    "ldrsb   r12, [r6], #1\n\t" \
    "mla     r10, r2, r12, r10\n\t" \
    "ldrsb   r12, [r7], #1\n\t" \
    "mla     r11, r2, r12, r11\n\t"

/* Adds to four sums the products of `count` inputs, less their zero point, with the weights of four filters from
 * `offset` on. */
static USMP_ASSEMBLY_OR_INLINE void usmp_add_products_s8(
    const int8_t *input USMP_UNUSED, int32_t zero_point USMP_UNUSED, const int8_t *const *filters USMP_UNUSED,
    int32_t offset USMP_UNUSED, int32_t count USMP_UNUSED, int32_t *sums USMP_UNUSED)
{
#if USMP_MVE
    /* An input less the zero point may take nine bits.  So both are multiplied by the weight, and if the zero point is
     * below 0, with all their bits inverted: then 1 + zero point fits an int8, too, and the sum changes its sign. */
    __asm__ volatile(
        /* r0 input, r1 r3 r5 r7 filters, r2 r4 r6 r8 sums; q0 inputs, q1 weights, q2 inversion, q3 zero points */
        "push           {r4-r9, lr}\n\t"
        "asr            r9, r1, #31\n\t"
        "vdup.8         q2, r9\n\t"
        "eor            r12, r1, r9\n\t"
        "rsb            r12, r12, #0\n\t"
        "vdup.8         q3, r12\n\t"
        "ldrd           r1, r4, [r2]\n\t"
        "ldrd           r5, r7, [r2, #8]\n\t"
        "add            r1, r1, r3\n\t" /* filters */
        "add            r5, r5, r3\n\t"
        "add            r7, r7, r3\n\t"
        "add            r3, r3, r4\n\t"
        "mov            r2, #0\n\t"
        "mov            r4, #0\n\t"
        "mov            r6, #0\n\t"
        "mov            r8, #0\n\t"
        "ldrd           r12, r9, [sp, #28]\n\t" /* count, sums */
        "wlstp.8        lr, r12, 2f\n\t"

        "1:\n\t" /* sixteen inputs */
        "vldrb.u8       q0, [r0], #16\n\t"
        "veor           q0, q0, q2\n\t"
        "vldrb.u8       q1, [r1], #16\n\t"
        "vmladava.s8    r2, q0, q1\n\t"
        "vmladava.s8    r2, q3, q1\n\t"
        "vldrb.u8       q1, [r3], #16\n\t"
        "vmladava.s8    r4, q0, q1\n\t"
        "vmladava.s8    r4, q3, q1\n\t"
        "vldrb.u8       q1, [r5], #16\n\t"
        "vmladava.s8    r6, q0, q1\n\t"
        "vmladava.s8    r6, q3, q1\n\t"
        "vldrb.u8       q1, [r7], #16\n\t"
        "vmladava.s8    r8, q0, q1\n\t"
        "vmladava.s8    r8, q3, q1\n\t"
        "letp           lr, 1b\n\t"

        "2:\n\t"
        "vmov           q0[2], q0[0], r2, r6\n\t"
        "vmov           q0[3], q0[1], r4, r8\n\t"
        "veor           q0, q0, q2\n\t"
        "vsub.i32       q0, q0, q2\n\t"
        "vldrw.u32      q1, [r9]\n\t"
        "vadd.i32       q0, q0, q1\n\t"
        "vstrw.32       q0, [r9]\n\t"
        "pop            {r4-r9, pc}\n\t");
#elif USMP_DSP
    __asm__ volatile(
        /* r0 input, r4 to r7 filters, r8 to r11 sums, r3 count; r1 r2 inputs, r12 lr weights */
        "pkhbt   r1, r1, r1, lsl #16\n\t" /* the zero point twice */
        "push    {r1, r4-r11, lr}\n\t"
        "ldm     r2, {r4, r5, r6, r7}\n\t"
        "add     r4, r4, r3\n\t"
        "add     r5, r5, r3\n\t"
        "add     r6, r6, r3\n\t"
        "add     r7, r7, r3\n\t"
        "ldrd    r3, r2, [sp, #40]\n\t"
        "ldm     r2, {r8, r9, r10, r11}\n\t"
        "lsrs    r3, r3, #2\n\t"
        "beq     2f\n\t"

        "1:\n\t" /* four inputs */
        "ldr     r2, [r0], #4\n\t"
        "ldr     lr, [sp]\n\t"
        "sxtb16  r1, r2\n\t"
        "sxtb16  r2, r2, ror #8\n\t"
        "ssub16  r1, r1, lr\n\t"
        "ssub16  r2, r2, lr\n\t"
        USMP_DSP_FOUR_INPUTS
        "subs    r3, r3, #1\n\t"
        "bne     1b\n\t"

        "2:\n\t"
        "ldr     r3, [sp, #40]\n\t"
        "ands    r3, r3, #3\n\t"
        "beq     4f\n\t"
        "ldrsh   r1, [sp]\n\t"

        "3:\n\t" /* one input */
        "ldrsb   r2, [r0], #1\n\t"
        "sub     r2, r2, r1\n\t"
        USMP_DSP_ONE_INPUT
        "subs    r3, r3, #1\n\t"
        "bne     3b\n\t"

        "4:\n\t"
        "ldr     r2, [sp, #44]\n\t"
        "stm     r2, {r8, r9, r10, r11}\n\t"
        "pop     {r1, r4-r11, pc}\n\t");
#else
    const int8_t *const a = filters[0] + offset;
    const int8_t *const b = filters[1] + offset;
    const int8_t *const c = filters[2] + offset;
    const int8_t *const d = filters[3] + offset;
    const ptrdiff_t whole = USMP_SIMD ? count - count % 16 : 0;
    int32_t sum_a = sums[0];
    int32_t sum_b = sums[1];
    int32_t sum_c = sums[2];
    int32_t sum_d = sums[3];

    for (ptrdiff_t first = 0; first < whole; first += 16) {
        for (ptrdiff_t i = first; i < first + 16; ++i) {
            const int16_t value = (int16_t)(input[i] - zero_point);
            sum_a += value * a[i];
            sum_b += value * b[i];
            sum_c += value * c[i];
            sum_d += value * d[i];
        }
    }
    for (ptrdiff_t i = whole; i < count; ++i) {
        const int32_t value = input[i] - zero_point;
        sum_a += value * a[i];
        sum_b += value * b[i];
        sum_c += value * c[i];
        sum_d += value * d[i];
    }
    sums[0] = sum_a;
    sums[1] = sum_b;
    sums[2] = sum_c;
    sums[3] = sum_d;
#endif
}

/* Adds to four sums the products of `count` inputs with the weights of four filters from `offset` on.  Sums of 256
 * products, of 23 bits each, are 32 bits wide: these are added in 64 bits. */
static USMP_ASSEMBLY_OR_INLINE void usmp_add_products_s16(
    const usmp_i16 *input USMP_UNUSED, const int8_t *const *filters USMP_UNUSED, int32_t offset USMP_UNUSED,
    int32_t count USMP_UNUSED, int64_t *sums USMP_UNUSED)
{
#if USMP_MVE
    __asm__ volatile(
        /* r6 input, r1 r2 r3 r4 filters, r5:r0 r7:r8 r9:r10 r11:r12 sums; q0 inputs, q1 q2 weights */
        "push           {r4-r11, lr}\n\t"
        "mov            r6, r0\n\t" /* inputs */
        "mov            lr, r3\n\t"
        "ldrd           r0, r5, [r1]\n\t"
        "ldrd           r3, r4, [r1, #8]\n\t"
        "add            r1, r0, r2\n\t" /* filters */
        "add            r3, r3, r2\n\t"
        "add            r4, r4, r2\n\t"
        "add            r2, r2, r5\n\t"
        "ldr            r12, [sp, #36]\n\t" /* sums */
        "ldrd           r0, r5, [r12]\n\t"
        "ldrd           r8, r7, [r12, #8]\n\t"
        "ldrd           r10, r9, [r12, #16]\n\t"
        "ldrd           r12, r11, [r12, #24]\n\t"
        "wlstp.16       lr, lr, 2f\n\t"

        "1:\n\t" /* eight inputs */
        "vldrh.u16      q0, [r6], #16\n\t"
        "vldrb.s16      q1, [r1], #8\n\t"
        "vmlaldava.s16  r0, r5, q0, q1\n\t"
        "vldrb.s16      q2, [r2], #8\n\t"
        "vmlaldava.s16  r8, r7, q0, q2\n\t"
        "vldrb.s16      q1, [r3], #8\n\t"
        "vmlaldava.s16  r10, r9, q0, q1\n\t"
        "vldrb.s16      q2, [r4], #8\n\t"
        "vmlaldava.s16  r12, r11, q0, q2\n\t"
        "letp           lr, 1b\n\t"

        "2:\n\t"
        "ldr            lr, [sp, #36]\n\t"
        "strd           r0, r5, [lr]\n\t"
        "strd           r8, r7, [lr, #8]\n\t"
        "strd           r10, r9, [lr, #16]\n\t"
        "strd           r12, r11, [lr, #24]\n\t"
        "pop            {r4-r11, pc}\n\t");
#elif USMP_DSP
    __asm__ volatile(
        /* r0 input, r4 to r7 filters, r8 to r11 sums of 32 bits, r3 count; r1 r2 inputs, r12 lr weights */
        "push    {r2, r3, r4-r11, lr}\n\t" /* places for what is added up in 32 bits, and for what is left */
        "ldm     r1, {r4, r5, r6, r7}\n\t"
        "add     r4, r4, r2\n\t"
        "add     r5, r5, r2\n\t"
        "add     r6, r6, r2\n\t"
        "add     r7, r7, r2\n\t"

        "1:\n\t" /* at most 256 inputs */
        "ldr     r2, [sp, #4]\n\t"
        "mov     r3, r2\n\t"
        "cmp     r3, #256\n\t"
        "it      gt\n\t"
        "movgt   r3, #256\n\t"
        "sub     r2, r2, r3\n\t"
        "strd    r3, r2, [sp]\n\t"
        "mov     r8, #0\n\t"
        "mov     r9, #0\n\t"
        "mov     r10, #0\n\t"
        "mov     r11, #0\n\t"
        "lsrs    r3, r3, #2\n\t"
        "beq     3f\n\t"

        "2:\n\t" /* four inputs */
        "ldr     r1, [r0], #4\n\t"
        "ldr     r2, [r0], #4\n\t"
        "pkhbt   lr, r1, r2, lsl #16\n\t"
        "pkhtb   r2, r2, r1, asr #16\n\t"
        "mov     r1, lr\n\t"
        USMP_DSP_FOUR_INPUTS
        "subs    r3, r3, #1\n\t"
        "bne     2b\n\t"

        "3:\n\t"
        "ldr     r3, [sp]\n\t"
        "ands    r3, r3, #3\n\t"
        "beq     5f\n\t"

        "4:\n\t" /* one input */
        "ldrsh   r2, [r0], #2\n\t"
        USMP_DSP_ONE_INPUT
        "subs    r3, r3, #1\n\t"
        "bne     4b\n\t"

        "5:\n\t"
        "ldr     lr, [sp, #44]\n\t"
        ".irp    sum, r8, r9, r10, r11\n\t"
        "ldrd    r1, r2, [lr]\n\t"
        "adds    r1, r1, \\sum\n\t"
        "adc     r2, r2, \\sum, asr #31\n\t"
        "strd    r1, r2, [lr], #8\n\t"
        ".endr\n\t"
        "ldr     r3, [sp, #4]\n\t"
        "cmp     r3, #0\n\t"
        "bne     1b\n\t"
        "pop     {r2, r3, r4-r11, pc}\n\t");
#else
    const int8_t *const a = filters[0] + offset;
    const int8_t *const b = filters[1] + offset;
    const int8_t *const c = filters[2] + offset;
    const int8_t *const d = filters[3] + offset;

    for (ptrdiff_t first = 0; first < count; first += 256) {
        const ptrdiff_t end = count - first < 256 ? count : first + 256;
        int32_t sum_a = 0;
        int32_t sum_b = 0;
        int32_t sum_c = 0;
        int32_t sum_d = 0;

        for (ptrdiff_t i = first; i < end; ++i) {
            sum_a += input[i] * a[i];
            sum_b += input[i] * b[i];
            sum_c += input[i] * c[i];
            sum_d += input[i] * d[i];
        }
        sums[0] += sum_a;
        sums[1] += sum_b;
        sums[2] += sum_c;
        sums[3] += sum_d;
    }
#endif
}

#endif
