/* Sums of products of floats for four filters at once. */
#ifndef USMP_PRODUCTS_F32_H
#define USMP_PRODUCTS_F32_H

#include "assembly.h"
#include "mve.h"
#include "usmp.h"

/* Whether sums of floats are assembly for the floating-point unit of a Cortex-M, which loads four numbers by one
 * instruction. */
#if defined(__thumb2__) && defined(__ARM_FP) && defined(__GNUC__) && !USMP_MVE_F32
#define USMP_FPU (__ARM_FP >> 2 & 1)
#else
#define USMP_FPU 0
#endif

/* A function whose body is assembly there, and with Helium. */
#if USMP_FPU || USMP_MVE_F32
#define USMP_F32_ASSEMBLY_OR_INLINE __attribute__((naked, noinline, used))
#else
#define USMP_F32_ASSEMBLY_OR_INLINE inline
#endif

/* Adds to each of four sums, s20 to s23, the product of an input with a weight of its filter, which is lost. */
#define USMP_FPU_FOUR_PRODUCTS(INPUT, A, B, C, D) \
    "vmul.f32 " A ", " A ", " INPUT "\n\t" \
    "vmul.f32 " B ", " B ", " INPUT "\n\t" \
    "vmul.f32 " C ", " C ", " INPUT "\n\t" \
    "vmul.f32 " D ", " D ", " INPUT "\n\t" \
    "vadd.f32 s20, s20, " A "\n\t" \
    "vadd.f32 s21, s21, " B "\n\t" \
    "vadd.f32 s22, s22, " C "\n\t" \
    "vadd.f32 s23, s23, " D "\n\t"

/* Adds to four sums the products of `count` inputs with the weights of four filters from `offset` on, in the order of
 * the inputs. */
static USMP_F32_ASSEMBLY_OR_INLINE void usmp_add_products_f32(
    const usmp_f32 *input USMP_UNUSED, const float *const *filters USMP_UNUSED, int32_t offset USMP_UNUSED,
    int32_t count USMP_UNUSED, float *sums USMP_UNUSED)
{
#if USMP_MVE_F32
    __asm__ volatile(
        /* r0 input, r3 count, r4 sums; q0 sums, q1 addresses, q2 weights */
        "push           {r4, lr}\n\t"
        "lsl            r2, r2, #2\n\t"
        "sub            r2, r2, #4\n\t"
        "vldrw.u32      q1, [r1]\n\t"
        "vadd.i32       q1, q1, r2\n\t" /* where the weight before the next one of each filter is */
        "ldr            r4, [sp, #8]\n\t"
        "vldrw.u32      q0, [r4]\n\t" /* sums */
        "wls            lr, r3, 2f\n\t"

        "1:\n\t" /* an input */
        "ldr            r12, [r0], #4\n\t"
        "vldrw.u32      q2, [q1, #4]!\n\t"
        "vfma.f32       q0, q2, r12\n\t"
        "le             lr, 1b\n\t"

        "2:\n\t"
        "vstrw.32       q0, [r4]\n\t"
        "pop            {r4, pc}\n\t");
#elif USMP_FPU
    __asm__ volatile(
        /* r0 input, r4 to r7 filters, r1 sums, r3 count, r12 fours; s0 to s3 inputs, s4 to s19 weights */
        "push    {r4-r7, lr}\n\t"
        "vpush   {s16-s23}\n\t"
        "ldm     r1, {r4-r7}\n\t"
        "add     r4, r4, r2, lsl #2\n\t"
        "add     r5, r5, r2, lsl #2\n\t"
        "add     r6, r6, r2, lsl #2\n\t"
        "add     r7, r7, r2, lsl #2\n\t"
        "ldr     r1, [sp, #52]\n\t"
        "vldmia  r1, {s20-s23}\n\t"
        "lsrs    r12, r3, #2\n\t"
        "beq     2f\n\t"

        "1:\n\t" /* four inputs */
        "vldmia  r0!, {s0-s3}\n\t"
        "vldmia  r4!, {s4-s7}\n\t"
        "vldmia  r5!, {s8-s11}\n\t"
        "vldmia  r6!, {s12-s15}\n\t"
        "vldmia  r7!, {s16-s19}\n\t"
        USMP_FPU_FOUR_PRODUCTS("s0", "s4", "s8", "s12", "s16")
        USMP_FPU_FOUR_PRODUCTS("s1", "s5", "s9", "s13", "s17")
        USMP_FPU_FOUR_PRODUCTS("s2", "s6", "s10", "s14", "s18")
        USMP_FPU_FOUR_PRODUCTS("s3", "s7", "s11", "s15", "s19")
        "subs    r12, r12, #1\n\t"
        "bne     1b\n\t"

        "2:\n\t"
        "ands    r3, r3, #3\n\t"
        "beq     4f\n\t"

        "3:\n\t" /* one input */
        "vldmia  r0!, {s0}\n\t"
        "vldmia  r4!, {s4}\n\t"
        "vldmia  r5!, {s8}\n\t"
        "vldmia  r6!, {s12}\n\t"
        "vldmia  r7!, {s16}\n\t"
        USMP_FPU_FOUR_PRODUCTS("s0", "s4", "s8", "s12", "s16")
        "subs    r3, r3, #1\n\t"
        "bne     3b\n\t"

        "4:\n\t"
        "vstmia  r1, {s20-s23}\n\t"
        "vpop    {s16-s23}\n\t"
        "pop     {r4-r7, pc}\n\t");
#else
    const float *const a = filters[0] + offset;
    const float *const b = filters[1] + offset;
    const float *const c = filters[2] + offset;
    const float *const d = filters[3] + offset;
    float sum_a = sums[0];
    float sum_b = sums[1];
    float sum_c = sums[2];
    float sum_d = sums[3];

    for (ptrdiff_t i = 0; i < count; ++i) {
        sum_a += input[i] * a[i];
        sum_b += input[i] * b[i];
        sum_c += input[i] * c[i];
        sum_d += input[i] * d[i];
    }
    sums[0] = sum_a;
    sums[1] = sum_b;
    sums[2] = sum_c;
    sums[3] = sum_d;
#endif
}

#endif
