/* MUL of int8 with Helium.  The shift is to the right. */
#include "arithmetic.h"
#include "mul.h"
#include "mve.h"
#include "pairs.h"

/* Turns of a product, of eight elements each.  The assembly loads the members in their order. */
struct usmp_product_mve {
    int32_t first_zero_point;
    int32_t second_zero_point;
    int32_t multiplier;
    int32_t shift; /* negative: to the right */
    int32_t zero_point; /* of the output */
    int32_t low;
    int32_t high;
    int32_t lanes; /* elements of a turn */
    int32_t turns;
    int32_t step; /* from one turn to the next */
    int32_t is_stretched; /* whether the second factor of all elements is the same one */
};

/* A product of two elements. */
static inline USMP_UNUSED int8_t usmp_multiply_two_s8_mve(
    const struct usmp_product_mve *p, int8_t first, int8_t second)
{
    const int32_t product = (first - p->first_zero_point) * (second - p->second_zero_point);
    const int32_t scaled = usmp_scale_down(product, p->multiplier, -p->shift);
    return (int8_t)usmp_clamp(scaled + p->zero_point, p->low, p->high);
}

/* The rest of a turn, from the elements in q0, and those in q3 less their zero point. */
#define USMP_MVE_PRODUCTS \
    "add            r1, r1, r0\n\t" \
    "vsub.i16       q0, q0, r4\n\t" \
    "vmullb.s16     q2, q0, q3\n\t" /* even elements */ \
    "vmullt.s16     q0, q0, q3\n\t" /* odd elements */ \
    USMP_MVE_SCALE_BY("q2", "q1", "r6", "r7") \
    USMP_MVE_SCALE_BY("q0", "q1", "r6", "r7") \
    "vqmovnb.s32    q2, q2\n\t" \
    "vqmovnt.s32    q2, q0\n\t" \
    "vqadd.s16      q2, q2, r8\n\t" \
    "vmax.s16       q2, q2, q4\n\t" \
    "vmin.s16       q2, q2, q5\n\t" \
    "vpst\n\t" \
    "vstrbt.16      q2, [r3]\n\t" \
    "add            r3, r3, r0\n\t"

/* Multiplies elements, eight in a turn. */
static USMP_MVE_ASSEMBLY void usmp_multiply_eights_s8_mve(
    const struct usmp_product_mve *p USMP_UNUSED, const int8_t *first USMP_UNUSED,
    const int8_t *second USMP_UNUSED, int8_t *output USMP_UNUSED)
{
#if USMP_MVE
    __asm__ volatile(
        /* r0 step, r1 first, r2 second, r3 output, r4 to r8 the members of p from the first on; q4 q5 limits */
        "push           {r4-r10, lr}\n\t"
        "vpush          {d8-d11}\n\t"
        "ldm            r0!, {r4-r10}\n\t"
        "vdup.16        q4, r9\n\t" /* low */
        "vdup.16        q5, r10\n\t" /* high */
        "ldm            r0, {r9, r10, r12, lr}\n\t" /* lanes, turns, step, whether it is stretched */
        "vctp.16        r9\n\t"
        "mov            r0, r12\n\t"
        "cmp            lr, #0\n\t"
        "dls            lr, r10\n\t"
        "bne            2f\n\t"

        "1:\n\t" /* a turn */
        "vpstt\n\t"
        "vldrbt.s16     q0, [r1]\n\t"
        "vldrbt.s16     q3, [r2]\n\t"
        "add            r2, r2, r0\n\t"
        "vsub.i16       q3, q3, r5\n\t"
        USMP_MVE_PRODUCTS
        "le             lr, 1b\n\t"
        "b              4f\n\t"

        "2:\n\t"
        "ldrsb          r2, [r2]\n\t"
        "sub            r2, r2, r5\n\t"
        "vdup.16        q3, r2\n\t"

        "3:\n\t" /* a turn */
        "vpst\n\t"
        "vldrbt.s16     q0, [r1]\n\t"
        USMP_MVE_PRODUCTS
        "le             lr, 3b\n\t"

        "4:\n\t"
        "vpop           {d8-d11}\n\t"
        "pop            {r4-r10, pc}\n\t");
#else
    const int32_t second_step = p->is_stretched ? 0 : p->step;
    const int32_t apart = p->is_stretched ? 0 : 1;

    for (int32_t turn = 0; turn < p->turns; ++turn, first += p->step, second += second_step, output += p->step) {
        int8_t products[8];

        for (int32_t i = 0; i < p->lanes; ++i) {
            products[i] = usmp_multiply_two_s8_mve(p, first[i], second[i * apart]);
        }
        for (int32_t i = 0; i < p->lanes; ++i) {
            output[i] = products[i];
        }
    }
#endif
}

/* Makes `size` elements; all operands begin with the first one. */
static inline void usmp_multiply_run_mve(
    struct usmp_product_mve *product, const int8_t *first, const int8_t *second, int32_t size, int32_t direction,
    int8_t *output)
{
    const int32_t whole = size - size % 8;

    product->step = 8 * direction;
    for (int32_t part = 0; part < 2; ++part) {
        const int is_rest = (part == 1) == (direction > 0);
        const int32_t at = is_rest ? whole : direction > 0 ? 0 : whole - 8;

        product->lanes = is_rest ? size - whole : 8;
        product->turns = is_rest ? product->lanes != 0 : whole / 8;
        if (product->turns != 0) {
            usmp_multiply_eights_s8_mve(
                product, first + at, second + (product->is_stretched ? 0 : at), output + at);
        }
    }
}

static inline struct usmp_product_mve usmp_describe_product_mve(const struct usmp_mul_s8_parameters *p)
{
    struct usmp_product_mve product;

    product.first_zero_point = p->first_zero_point;
    product.second_zero_point = p->second_zero_point;
    product.multiplier = p->multiplier;
    product.shift = p->shift;
    product.zero_point = p->output_zero_point;
    product.low = p->low + p->output_zero_point;
    product.high = p->high + p->output_zero_point;
    product.is_stretched = 0;
    return product;
}

/* Two tensors of one shape. */
void usmp_mul_s8_mve(
    const struct usmp_mul_s8_parameters *p, const int8_t *first, const int8_t *second, int8_t *output)
{
    struct usmp_product_mve product = usmp_describe_product_mve(p);

    usmp_multiply_run_mve(&product, first, second, p->size, p->direction, output);
}

/* Two tensors, at least one of them stretched; axes as in usmp_mul_s8_stretched.  A run along the innermost axis at a
 * time, along which one operand may be stretched: it comes second. */
void usmp_mul_s8_mve_stretched(
    const struct usmp_mul_s8_parameters *p, const int8_t *first, const int8_t *second, const int32_t *axes,
    int8_t *output)
{
    struct usmp_pair at = usmp_pair_at(axes, p->direction);
    struct usmp_product_mve product = usmp_describe_product_mve(p);
    const int32_t size = at.left;
    const int32_t is_first_stretched = at.first_step == 0;
    const int32_t to_begin = p->direction < 0 ? size - 1 : 0; /* from where the run comes first */
    const int32_t first_begin = is_first_stretched ? 0 : to_begin;
    const int32_t second_begin = at.second_step == 0 ? 0 : to_begin;

    if (is_first_stretched) {
        product.first_zero_point = p->second_zero_point;
        product.second_zero_point = p->first_zero_point;
    }
    product.is_stretched = is_first_stretched || at.second_step == 0;
    output += p->direction < 0 ? p->size - size : 0;
    for (int32_t left = p->size; left > 0; left -= size, output += size * p->direction) {
        const int8_t *const run = first + at.first - first_begin;
        const int8_t *const other = second + at.second - second_begin;

        usmp_multiply_run_mve(
            &product, is_first_stretched ? other : run, is_first_stretched ? run : other, size, p->direction, output);
        at.first += size * at.first_step;
        at.second += size * at.second_step;
        usmp_turn_pair(&at, axes, p->direction);
    }
}
