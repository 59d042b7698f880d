/* The blocks of outputs that are made of each pixel with Arm's DSP extension. */
#ifndef USMP_BLOCKS_DSP_H
#define USMP_BLOCKS_DSP_H

#include "conv_2d_dsp.h"
#include "dot_dsp.h"
#include "dot_s16_dsp.h"
#include "usmp.h"

/* Says how outputs are made of pixels of `runs` runs of `elements` elements, and where in a pixel the first block of
 * outputs is. */
static int32_t usmp_set_blocks_s8_dsp(
    struct usmp_pixels_s8_dsp *dot, const struct usmp_conv_2d_s8_dsp_parameters *p, const int32_t *packed, int32_t runs,
    int32_t elements)
{
    const int32_t blocks = (p->output_channels + 3) / 4;
    const int32_t block = usmp_block_s8_dsp(runs, elements);
    const int32_t last = 4 * (blocks - 1);

    usmp_set_outputs_s8_dsp(dot, p, block);
    dot->short_outputs = p->output_channels % 4;
    dot->short_end = 0;
    if (dot->short_outputs != 0) {
        dot->flags |= 2;
        dot->short_end = (uintptr_t)(packed + blocks * block);
    }
    if (p->direction > 0) {
        dot->packed = packed;
        dot->end = (uintptr_t)(packed + blocks * block);
        dot->back = 0;
        dot->step = 4;
        dot->output_step = p->output_pitch - 4 - last;
        return 0;
    }
    dot->packed = packed + (blocks - 1) * block;
    dot->end = (uintptr_t)packed - 4 * (uintptr_t)block;
    dot->back = -8 * block;
    dot->step = -4;
    dot->output_step = 4 + last - p->output_pitch;
    return last;
}

#endif
