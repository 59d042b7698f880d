/* Gathers the bytes under a window, with Helium. */
#ifndef USMP_GATHER_MVE_H
#define USMP_GATHER_MVE_H

#include "mve.h"
#include "usmp.h"

/* What to gather.  The assembly loads members in pairs. */
struct usmp_gathering_mve {
    int32_t runs;       /* how many */
    int32_t distance;   /* from one run to the next in the patch */
    int32_t size;       /* bytes to read of each */
    int32_t zero_point; /* of the input */
    int32_t vectors;    /* sixteens of bytes of the patch */
    int32_t first;      /* place of the first run */
};

/* Gathers runs side by side, each from the same offset.  A run that is NULL, and all that is around them, is the zero
 * point. */
static USMP_MVE_ASSEMBLY void usmp_gather_s8_mve(
    const int8_t *const *runs USMP_UNUSED, int32_t offset USMP_UNUSED,
    const struct usmp_gathering_mve *p USMP_UNUSED, int8_t *patch USMP_UNUSED)
{
#if USMP_MVE
    __asm__ volatile(
        /* r0 runs, r1 offset, r3 patch, r4 runs left, r5 distance, r6 size, r7 input, r12 output */
        "push           {r4-r7, lr}\n\t"
        "ldrd           r4, r5, [r2, %[runs]]\n\t" /* and their distance */
        "ldrd           r6, r7, [r2, %[size]]\n\t" /* and the zero point */
        "ldrd           r2, r12, [r2, %[vectors]]\n\t" /* and the place of the first run */
        "vdup.8         q0, r7\n\t"
        "mov            r7, r3\n\t"
        "dls            lr, r2\n\t"

        "1:\n\t" /* zero points */
        "vstrb.8        q0, [r7], #16\n\t"
        "le             lr, 1b\n\t"
        "add            r3, r3, r12\n\t"

        "2:\n\t" /* a run */
        "ldr            r7, [r0], #4\n\t"
        "cbz            r7, 4f\n\t"
        "add            r7, r7, r1\n\t"
        "mov            r12, r3\n\t"
        "wlstp.8        lr, r6, 4f\n\t"

        "3:\n\t" /* sixteen bytes */
        "vldrb.u8       q0, [r7], #16\n\t"
        "vstrb.8        q0, [r12], #16\n\t"
        "letp           lr, 3b\n\t"

        "4:\n\t"
        "add            r3, r3, r5\n\t"
        "subs           r4, r4, #1\n\t"
        "bne            2b\n\t"
        "pop            {r4-r7, pc}\n\t"
        :
        : USMP_OFFSET(usmp_gathering_mve, runs), USMP_OFFSET(usmp_gathering_mve, size),
        USMP_OFFSET(usmp_gathering_mve, vectors));
#else
    for (int32_t i = 0; i < 16 * p->vectors; ++i) {
        patch[i] = (int8_t)p->zero_point;
    }
    for (int32_t run = 0; run < p->runs; ++run) {
        for (int32_t i = 0; runs[run] != NULL && i < p->size; ++i) {
            patch[p->first + run * p->distance + i] = runs[run][offset + i];
        }
    }
#endif
}

#endif
