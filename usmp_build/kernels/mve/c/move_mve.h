/* Bytes that move or repeat, sixteen at a time with Helium: C libraries for microcontrollers often move single bytes. */
#ifndef USMP_MOVE_MVE_H
#define USMP_MOVE_MVE_H

#include <string.h>

#include "mve.h"
#include "usmp.h"

/* As memmove. */
static USMP_MVE_OR_INLINE void usmp_move_vectors(
    const uint8_t *from USMP_UNUSED, int32_t size USMP_UNUSED, uint8_t *to USMP_UNUSED)
{
#if USMP_MVE
    __asm__ volatile(
        /* r0 from, r1 size, r2 to */
        "push           {r4, lr}\n\t"
        "sub            r3, r2, r0\n\t"
        "cmp            r3, r1\n\t"
        "blo            2f\n\t"
        "wlstp.8        lr, r1, 4f\n\t"

        "1:\n\t" /* sixteen bytes */
        "vldrb.u8       q0, [r0], #16\n\t"
        "vstrb.8        q0, [r2], #16\n\t"
        "letp           lr, 1b\n\t"
        "pop            {r4, pc}\n\t"

        "2:\n\t" /* the last bytes first: they lie where the output begins, or after that */
        "subs           r1, r1, #16\n\t"
        "blt            3f\n\t"
        "add            r3, r0, r1\n\t"
        "add            r4, r2, r1\n\t"
        "vldrb.u8       q0, [r3]\n\t"
        "vstrb.8        q0, [r4]\n\t"
        "b              2b\n\t"

        "3:\n\t"
        "add            r1, r1, #16\n\t"
        "vctp.8         r1\n\t"
        "vpst\n\t"
        "vldrbt.u8      q0, [r0]\n\t"
        "vpst\n\t"
        "vstrbt.8       q0, [r2]\n\t"

        "4:\n\t"
        "pop            {r4, pc}\n\t");
#else
    memmove(to, from, (size_t)size);
#endif
}

/* As memset. */
static USMP_MVE_OR_INLINE void usmp_repeat_byte(
    uint8_t *to USMP_UNUSED, uint8_t value USMP_UNUSED, int32_t count USMP_UNUSED)
{
#if USMP_MVE
    __asm__ volatile(
        /* r0 to, r1 value, r2 count */
        "push           {r4, lr}\n\t"
        "vdup.8         q0, r1\n\t"
        "wlstp.8        lr, r2, 2f\n\t"

        "1:\n\t" /* sixteen bytes */
        "vstrb.8        q0, [r0], #16\n\t"
        "letp           lr, 1b\n\t"

        "2:\n\t"
        "pop            {r4, pc}\n\t");
#else
    memset(to, value, (size_t)count);
#endif
}

#endif
