#include "arithmetic.h"
#include "exponent_sums.h"
#include "exponential.h"
#include "exponents_mve.h"
#include "mve.h"
#include "softmax.h"
#include "walk.h"

/* e^x of an input less its row's maximum, Q0.31. */
static inline int32_t usmp_softmax_exp(const struct usmp_softmax_s8_parameters *p, int32_t difference)
{
    return usmp_exp_of_difference(difference, p->multiplier, p->shift, p->reach);
}

/* What all inputs of a row have in common. */
struct usmp_softmax_row {
    int32_t maximum;
    int32_t factor; /* 1 / sum, Q0.31, but for a power of two */
    int32_t over;   /* that power's exponent */
};

static inline struct usmp_softmax_row usmp_softmax_look_at(
    const struct usmp_softmax_s8_parameters *p, const int8_t *input)
{
    struct usmp_softmax_row row = {usmp_maximum_of_row(input, p->size), 0, 12};
    uint32_t sum = usmp_sum_of_exps(input, p->size, row.maximum, p->multiplier, p->shift, p->reach);

    for (; sum < 1u << 31; sum *= 2) {
        --row.over;
    }
    row.factor = usmp_reciprocal((int32_t)(sum - (1u << 31)));
    return row;
}

/* The share of an input, with `bits` bits: 2^bits is all. */
static inline USMP_UNUSED int32_t usmp_softmax_share(
    const struct usmp_softmax_s8_parameters *p, const struct usmp_softmax_row *row, int8_t input,
    int32_t bits)
{
    const int32_t share = usmp_multiply_high(row->factor, usmp_softmax_exp(p, input - row->maximum));
    const int32_t excess = row->over + 31 - bits;
    return excess > 31 ? 0 : usmp_shift_right(share, excess);
}

/* Makes the shares of a row. */
static USMP_MVE_OR_INLINE void usmp_softmax_shares(
    const struct usmp_softmax_s8_parameters *p USMP_UNUSED, const struct usmp_softmax_row *row USMP_UNUSED,
    const int8_t *input USMP_UNUSED, int8_t *output USMP_UNUSED)
{
#if USMP_MVE
    __asm__ volatile(
        /* r0 input, r2 output; r1, r4 to r12, q5 to q7 as exponents_mve.h says.  On the stack: 1 / sum; how far shares are
         * shifted left then; step from turn to turn; how many turns, of how many inputs each; and how many others */
        "push           {r4-r12, lr}\n\t"
        "vpush          {d8-d15}\n\t"
        "sub            sp, sp, #32\n\t"
        "mov            r12, r0\n\t"
        "mov            lr, r1\n\t"
        "mov            r0, r2\n\t"
        "mov            r2, r3\n\t"
        "ldm            lr, {r6, r7, r8}\n\t" /* maximum, 1 / sum, the exponent over it */
        "vdup.32        q6, r6\n\t"
        "rsb            r8, r8, #0\n\t"
        "sub            r8, r8, #23\n\t"
        "ldr            r5, [r12, %[direction]]\n\t"
        "lsls           r5, r5, #2\n\t" /* step */
        "strd           r7, r8, [sp]\n\t"
        "ldrd           r3, r4, [r12, %[size]]\n\t" /* and multiplier */
        "ldrd           r6, r1, [r12, %[shift]]\n\t" /* and reach */
        "vdup.32        q7, r6\n\t"
        "rsb            r1, r1, #0\n\t"
        "and            r7, r3, #3\n\t" /* inputs that are no four */
        "add            r6, r7, #3\n\t"
        "lsr            r6, r6, #2\n\t"
        "lsr            r8, r3, #2\n\t" /* fours */
        "mov            r9, #4\n\t"
        "str            r5, [sp, #8]\n\t"
        "cmp            r5, #0\n\t"
        "bgt            1f\n\t"
        "sub            r3, r3, #1\n\t" /* from the end */
        "bic            r3, r3, #3\n\t"
        "add            r0, r0, r3\n\t"
        "add            r2, r2, r3\n\t"
        "strd           r6, r7, [sp, #16]\n\t"
        "strd           r8, r9, [sp, #24]\n\t"
        "b              2f\n\t"

        "1:\n\t"
        "strd           r8, r9, [sp, #16]\n\t"
        "strd           r6, r7, [sp, #24]\n\t"

        "2:\n\t"
        USMP_MVE_LOAD_EXPONENT_CONSTANTS
        "ldr            r3, [sp, #16]\n\t"
        "wls            lr, r3, 4f\n\t"

        "3:\n\t" /* a turn */
        "ldr            r3, [sp, #20]\n\t"
        "vctp.32        r3\n\t"
        "vpst\n\t"
        "vldrbt.s32     q0, [r0]\n\t"
        USMP_MVE_EXPONENTIALS
        "ldr            r3, [sp]\n\t"
        "vqrdmulh.s32   q4, q4, r3\n\t"
        "ldr            r3, [sp, #4]\n\t"
        "vrshl.s32      q4, r3\n\t"
        "vmov.i32       q0, #127\n\t"
        "vmvn           q1, q0\n\t" /* -128 */
        "vadd.i32       q4, q4, q1\n\t"
        "vmin.s32       q4, q4, q0\n\t"
        "ldr            r3, [sp, #20]\n\t"
        "vctp.32        r3\n\t"
        "vpst\n\t"
        "vstrbt.32      q4, [r2]\n\t"
        "ldr            r3, [sp, #8]\n\t"
        "add            r0, r0, r3\n\t"
        "add            r2, r2, r3\n\t"
        "le             lr, 3b\n\t"

        "4:\n\t" /* the others */
        "ldr            r3, [sp, #28]\n\t"
        "str            r3, [sp, #20]\n\t"
        "ldr            r3, [sp, #24]\n\t"
        "mov            lr, #0\n\t"
        "str            lr, [sp, #24]\n\t"
        "dls            lr, r3\n\t"
        "cmp            r3, #0\n\t"
        "bne            3b\n\t"
        "add            sp, sp, #32\n\t"
        "vpop           {d8-d15}\n\t"
        "pop            {r4-r12, pc}\n\t"
        USMP_MVE_EXPONENT_CONSTANTS
        :
        : USMP_OFFSET(usmp_softmax_s8_parameters, size), USMP_OFFSET(usmp_softmax_s8_parameters, shift),
        USMP_OFFSET(usmp_softmax_s8_parameters, direction));
#else
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        const int32_t share = usmp_softmax_share(p, row, input[i], 8) + INT8_MIN;
        output[i] = (int8_t)(share > INT8_MAX ? INT8_MAX : share);
    }
#endif
}

/* The output's scale is 1/256, its zero point -128. */
void usmp_softmax_s8(const struct usmp_softmax_s8_parameters *p, const int8_t *input, int8_t *output)
{
    const struct usmp_walk rows = usmp_walk_along(p->rows, 1, p->direction);

    for (int32_t y = rows.first; y != rows.end; y += rows.step) {
        const int8_t *const from = input + y * p->size;
        const struct usmp_softmax_row row = usmp_softmax_look_at(p, from);

        usmp_softmax_shares(p, &row, from, output + y * p->size);
    }
}

/* The output's scale is 1/65536, its zero point -32768. */
void usmp_softmax_s8_s16(const struct usmp_softmax_s8_parameters *p, const int8_t *input, usmp_i16 *output)
{
    const struct usmp_walk rows = usmp_walk_along(p->rows, 1, p->direction);
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t y = rows.first; y != rows.end; y += rows.step) {
        const int8_t *const from = input + y * p->size;
        usmp_i16 *const to = output + y * p->size;
        const struct usmp_softmax_row row = usmp_softmax_look_at(p, from);

        for (int32_t i = walk.first; i != walk.end; i += walk.step) {
            to[i] = (int16_t)usmp_minimum(usmp_softmax_share(p, &row, from[i], 16) + INT16_MIN, INT16_MAX);
        }
    }
}
