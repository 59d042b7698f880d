/* Functions of int8 by their 256 values, with Helium. */
#ifndef USMP_LOOK_UP_MVE_H
#define USMP_LOOK_UP_MVE_H

#include "mve.h"
#include "unary.h"
#include "usmp.h"

/* Elements by sixteens, from r1 to r3; or the last `r5`. */
#define USMP_MVE_LOOK_UP_SIXTEENS \
    "wls            lr, r6, 2f\n\t" \
    "1:\n\t" \
    "vldrb.u8       q0, [r1]\n\t" \
    "veor           q0, q0, q1\n\t" /* plus 128 */ \
    "vldrb.u8       q2, [r2, q0]\n\t" \
    "vstrb.8        q2, [r3]\n\t" \
    "add            r1, r1, r4\n\t" \
    "add            r3, r3, r4\n\t" \
    "le             lr, 1b\n\t" \
    "2:\n\t"
#define USMP_MVE_LOOK_UP_REST \
    "vctp.8         r5\n\t" \
    "vpst\n\t" \
    "vldrbt.u8      q0, [r1]\n\t" \
    "veor           q0, q0, q1\n\t" \
    "vpstt\n\t" \
    "vldrbt.u8      q2, [r2, q0]\n\t" \
    "vstrbt.8       q2, [r3]\n\t"

/* Replaces each element by its value in the table. */
static USMP_MVE_OR_INLINE void usmp_look_up_s8(
    const struct usmp_elements *p USMP_UNUSED, const int8_t *input USMP_UNUSED,
    const int8_t *table USMP_UNUSED, int8_t *output USMP_UNUSED)
{
#if USMP_MVE
    __asm__ volatile(
        /* r1 input, r2 table, r3 output, r4 step, r5 elements that are no sixteen, r6 sixteens; q1 128 */
        "push           {r4, r5, r6, lr}\n\t"
        "ldrd           r12, r4, [r0, %[size]]\n\t" /* and direction */
        "mov            r5, #128\n\t"
        "vdup.8         q1, r5\n\t"
        "and            r5, r12, #15\n\t"
        "lsr            r6, r12, #4\n\t"
        "lsls           r4, r4, #4\n\t"
        "bmi            3f\n\t"
        USMP_MVE_LOOK_UP_SIXTEENS
        USMP_MVE_LOOK_UP_REST
        "pop            {r4, r5, r6, pc}\n\t"

        "3:\n\t" /* from the end */
        "bic            r12, r12, #15\n\t"
        "add            r1, r1, r12\n\t"
        "add            r3, r3, r12\n\t"
        USMP_MVE_LOOK_UP_REST
        "sub            r1, r1, #16\n\t"
        "sub            r3, r3, #16\n\t"
        USMP_MVE_LOOK_UP_SIXTEENS
        "pop            {r4, r5, r6, pc}\n\t"
        :
        : USMP_OFFSET(usmp_elements, size));
#else
    for (int32_t i = p->direction < 0 ? p->size - 1 : 0; i >= 0 && i < p->size; i += p->direction) {
        output[i] = table[input[i] + 128];
    }
#endif
}

#endif
