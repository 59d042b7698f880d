/* ADD and SUB of int8 with Helium. */
#include "add.h"
#include "arithmetic.h"
#include "mve.h"
#include "walk.h"

/* Turns of a sum, of four elements each.  The assembly loads the members in their order. */
struct usmp_sum_mve {
    int32_t first_offset; /* less the zero point times the unit */
    int32_t first_multiplier;
    int32_t first_shift; /* negative: to the right */
    int32_t second_offset;
    int32_t second_multiplier;
    int32_t second_shift;
    int32_t sign;
    int32_t output_multiplier;
    int32_t output_shift;
    int32_t first_unit; /* 1, with the bits that are after the point */
    int32_t second_unit;
    int32_t zero_point; /* of the output */
    int32_t low;
    int32_t high;
    int32_t lanes; /* elements of a turn */
    int32_t turns;
    int32_t step; /* from one turn to the next */
};

/* A sum of two elements. */
static inline USMP_UNUSED int8_t usmp_add_two_s8_mve(const struct usmp_sum_mve *p, int8_t first, int8_t second)
{
    const int32_t a = first * p->first_unit + p->first_offset;
    const int32_t b = second * p->second_unit + p->second_offset;
    const int32_t sum = usmp_scale_down(a, p->first_multiplier, -p->first_shift) +
        p->sign * usmp_scale_down(b, p->second_multiplier, -p->second_shift);
    const int32_t scaled = usmp_scale_down(sum, p->output_multiplier, -p->output_shift);
    return (int8_t)usmp_clamp(scaled + p->zero_point, p->low, p->high);
}

/* Adds elements, four in a turn. */
static USMP_MVE_ASSEMBLY void usmp_add_fours_s8_mve(
    const struct usmp_sum_mve *p USMP_UNUSED, const int8_t *first USMP_UNUSED,
    const int8_t *second USMP_UNUSED, int8_t *output USMP_UNUSED)
{
#if USMP_MVE
    __asm__ volatile(
        /* r0 step, r1 first, r2 second, r3 output, r4 to r12 the members of p from the first on; q0 q1 q2 values */
        "push           {r4-r11, lr}\n\t"
        "vpush          {d8-d15}\n\t"
        "ldm            r0!, {r4-r12}\n\t"
        "ldr            lr, [r0], #4\n\t"
        "vdup.32        q3, lr\n\t" /* unit of the first */
        "ldr            lr, [r0], #4\n\t"
        "vdup.32        q4, lr\n\t" /* unit of the second */
        "ldr            lr, [r0], #4\n\t"
        "vdup.32        q5, lr\n\t" /* zero point */
        "ldr            lr, [r0], #4\n\t"
        "vdup.32        q6, lr\n\t" /* low */
        "ldr            lr, [r0], #4\n\t"
        "vdup.32        q7, lr\n\t" /* high */
        "ldr            lr, [r0], #4\n\t"
        "vctp.32        lr\n\t" /* lanes */
        "ldrd           lr, r0, [r0]\n\t" /* turns, step */
        "dls            lr, lr\n\t"

        "1:\n\t" /* a turn */
        "vpstt\n\t"
        "vldrbt.s32     q0, [r1]\n\t"
        "vldrbt.s32     q1, [r2]\n\t"
        "add            r1, r1, r0\n\t"
        "add            r2, r2, r0\n\t"
        "vmlas.s32      q0, q3, r4\n\t" /* times unit, plus offset */
        "vmlas.s32      q1, q4, r7\n\t"
        USMP_MVE_SCALE_BY("q0", "q2", "r5", "r6")
        USMP_MVE_SCALE_BY("q1", "q2", "r8", "r9")
        "vmla.s32       q0, q1, r10\n\t" /* times sign */
        USMP_MVE_SCALE_BY("q0", "q2", "r11", "r12")
        "vadd.i32       q0, q0, q5\n\t"
        "vmax.s32       q0, q0, q6\n\t"
        "vmin.s32       q0, q0, q7\n\t"
        "vpst\n\t"
        "vstrbt.32      q0, [r3]\n\t"
        "add            r3, r3, r0\n\t"
        "le             lr, 1b\n\t"
        "vpop           {d8-d15}\n\t"
        "pop            {r4-r11, pc}\n\t");
#else
    for (int32_t turn = 0; turn < p->turns; ++turn, first += p->step, second += p->step, output += p->step) {
        int8_t sums[4];

        for (int32_t i = 0; i < p->lanes; ++i) {
            sums[i] = usmp_add_two_s8_mve(p, first[i], second[i]);
        }
        for (int32_t i = 0; i < p->lanes; ++i) {
            output[i] = sums[i];
        }
    }
#endif
}

/* With a shift of 0, which comes with a multiplier of 2^30 or 0, the unit is doubled and the shift is 1, as the rounding
 * needs. */
static inline int32_t usmp_sum_unit_mve(int32_t shift)
{
    return 1 << (usmp_fraction_bits_s8() + (shift == 0));
}

/* Two tensors of one shape.  Shifts are at least 1; those of the operands may also be 0, with a multiplier of 2^30. */
void usmp_add_s8_mve(
    const struct usmp_add_s8_parameters *p, const int8_t *first, const int8_t *second, int8_t *output)
{
    const int32_t whole = p->size - p->size % 4;
    struct usmp_sum_mve sum;

    sum.first_unit = usmp_sum_unit_mve(p->first_shift);
    sum.first_offset = -p->first_zero_point * sum.first_unit;
    sum.first_multiplier = p->first_multiplier;
    sum.first_shift = -usmp_maximum(p->first_shift, 1);
    sum.second_unit = usmp_sum_unit_mve(p->second_shift);
    sum.second_offset = -p->second_zero_point * sum.second_unit;
    sum.second_multiplier = p->second_multiplier;
    sum.second_shift = -usmp_maximum(p->second_shift, 1);
    sum.sign = p->sign;
    sum.output_multiplier = p->output_multiplier;
    sum.output_shift = -p->output_shift;
    sum.zero_point = p->output_zero_point;
    sum.low = p->low + p->output_zero_point;
    sum.high = p->high + p->output_zero_point;
    for (int32_t part = 0; part < 2; ++part) {
        const int is_rest = (part == 1) == (p->direction > 0);
        const int32_t at = is_rest ? whole : p->direction > 0 ? 0 : whole - 4;
        sum.lanes = is_rest ? p->size - whole : 4;
        sum.turns = is_rest ? sum.lanes != 0 : whole / 4;
        sum.step = 4 * p->direction;
        if (sum.turns != 0) {
            usmp_add_fours_s8_mve(&sum, first + at, second + at, output + at);
        }
    }
}
