/* Sums over pixels, of each channel, with Helium. */
#ifndef USMP_PIXEL_FOURS_MVE_H
#define USMP_PIXEL_FOURS_MVE_H

#include "mve.h"

/* Adds neighbors to the sums of their channels: sixteen channels at a time, then four.  LOAD widens elements of SIZE
 * bytes. */
#define USMP_MVE_ADD_FOURS(LOAD, SIZE) \
    /* r0 first pixel, r1 count, r2 bytes of a pixel, r3 sums, r4 fours of channels, r5 pixel; q0 to q3 sums, q4 inputs */ \
    "push           {r4, r5, r6, lr}\n\t" \
    "vpush          {d8-d9}\n\t" \
    "lsr            r4, r2, #2\n\t" \
    "mov            r5, #" SIZE "\n\t" \
    "mul            r2, r2, r5\n\t" \
    "subs           r4, r4, #4\n\t" \
    "blt            3f\n\t" \
    "1:\n\t" /* sixteen channels */ \
    "vldrw.u32      q0, [r3]\n\t" \
    "vldrw.u32      q1, [r3, #16]\n\t" \
    "vldrw.u32      q2, [r3, #32]\n\t" \
    "vldrw.u32      q3, [r3, #48]\n\t" \
    "mov            r5, r0\n\t" \
    "dls            lr, r1\n\t" \
    "2:\n\t" /* a pixel */ \
    LOAD "          q4, [r5]\n\t" \
    "vadd.i32       q0, q0, q4\n\t" \
    LOAD "          q4, [r5, #4 * " SIZE "]\n\t" \
    "vadd.i32       q1, q1, q4\n\t" \
    LOAD "          q4, [r5, #8 * " SIZE "]\n\t" \
    "vadd.i32       q2, q2, q4\n\t" \
    LOAD "          q4, [r5, #12 * " SIZE "]\n\t" \
    "vadd.i32       q3, q3, q4\n\t" \
    "add            r5, r5, r2\n\t" \
    "le             lr, 2b\n\t" \
    "vstrw.32       q0, [r3], #16\n\t" \
    "vstrw.32       q1, [r3], #16\n\t" \
    "vstrw.32       q2, [r3], #16\n\t" \
    "vstrw.32       q3, [r3], #16\n\t" \
    "add            r0, r0, #16 * " SIZE "\n\t" \
    "subs           r4, r4, #4\n\t" \
    "bge            1b\n\t" \
    "3:\n\t" \
    "adds           r4, r4, #4\n\t" \
    "beq            6f\n\t" \
    "4:\n\t" /* four channels */ \
    "vldrw.u32      q0, [r3]\n\t" \
    "mov            r5, r0\n\t" \
    "dls            lr, r1\n\t" \
    "5:\n\t" /* a pixel */ \
    LOAD "          q4, [r5]\n\t" \
    "vadd.i32       q0, q0, q4\n\t" \
    "add            r5, r5, r2\n\t" \
    "le             lr, 5b\n\t" \
    "vstrw.32       q0, [r3], #16\n\t" \
    "add            r0, r0, #4 * " SIZE "\n\t" \
    "subs           r4, r4, #1\n\t" \
    "bne            4b\n\t" \
    "6:\n\t" \
    "vpop           {d8-d9}\n\t" \
    "pop            {r4, r5, r6, pc}\n\t"

#endif
