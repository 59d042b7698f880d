/* Helium (Cortex-M55, M85): what the inner functions for it share.
 *
 * They are assembly: the same instructions at -O0 and -O3, from gcc and clang.  Where there is no Helium (`USMP_MVE` is
 * 0), a C body reads and writes the same bytes of the same layouts, turn by turn.
 *
 * Nothing beyond an input or an output is touched: the lanes of a vector that lie there are predicated. */
#ifndef USMP_MVE_H
#define USMP_MVE_H

#include "arithmetic.h"
#include "assembly.h"
#include "conv_2d.h"
#include "usmp.h"
#include "walk.h"

/* Whether inner functions are assembly for Helium: all of their body, or none of it. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#error "weights that are packed for Helium are little-endian"
#elif defined(__ARM_FEATURE_MVE) && defined(__GNUC__)
#define USMP_MVE 1
#define USMP_MVE_ASSEMBLY __attribute__((naked, noinline, used))
#define USMP_MVE_OR_INLINE USMP_MVE_ASSEMBLY
#else
#define USMP_MVE 0
#define USMP_MVE_ASSEMBLY
#define USMP_MVE_OR_INLINE inline
#endif

/* Whether Helium has floats, too. */
#if USMP_MVE && __ARM_FEATURE_MVE >= 2
#define USMP_MVE_F32 1
#else
#define USMP_MVE_F32 0
#endif

/* Multiplies four values by MULTIPLIER / 2^31, and takes 1 off negative products: then a shift to the right rounds
 * halves away from 0.  The vector TEMPORARY is lost. */
#define USMP_MVE_MULTIPLY(VALUES, TEMPORARY, MULTIPLIER) \
    "vqrdmulh.s32   " VALUES ", " VALUES ", " MULTIPLIER "\n\t" \
    "vshr.s32       " TEMPORARY ", " VALUES ", #31\n\t" \
    "vadd.i32       " VALUES ", " VALUES ", " TEMPORARY "\n\t"

/* Scales four sums by the next multipliers and shifts of the packed block, at r1; the vector TEMPORARY is lost. */
#define USMP_MVE_SCALE(SUMS, TEMPORARY) \
    "vldrw.u32      " TEMPORARY ", [r1], #16\n\t" \
    USMP_MVE_MULTIPLY(SUMS, TEMPORARY, TEMPORARY) \
    "vldrb.s32      " TEMPORARY ", [r1], #4\n\t" \
    "vrshl.s32      " SUMS ", " SUMS ", " TEMPORARY "\n\t"

/* Scales four values by a multiplier and a negative shift that are in registers; the vector TEMPORARY is lost. */
#define USMP_MVE_SCALE_BY(VALUES, TEMPORARY, MULTIPLIER, SHIFT) \
    USMP_MVE_MULTIPLY(VALUES, TEMPORARY, MULTIPLIER) \
    "vrshl.s32      " VALUES ", " SHIFT "\n\t"

/* Pixels of an output row, and the blocks of channels in each.  The assembly loads members in pairs. */
struct usmp_pixels_mve {
    const int8_t *packed; /* the block that comes first */
    int32_t jump;         /* bytes from the end of a packed block to the beginning of the next one */
    int32_t zero_point;   /* of the output */
    int32_t step;         /* from the channels of a block to those of the next one */
    int32_t low;          /* limits of the output */
    int32_t high;
    int32_t count;        /* of the pixels */
    int32_t input_step;   /* from a pixel of the input to the next one */
    int32_t output_step;  /* from where another block would follow a pixel of the output to the next pixel */
    int32_t run;          /* bytes of a run */
    int32_t runs;         /* of a pixel; taps, where each channel has its own filter */
    int32_t blocks[5];    /* how many blocks, of how many channels each; how many others, of how many; 0 */
};

/* The members that assembly loads, as its operands. */
#define USMP_MVE_PIXELS \
    USMP_OFFSET(usmp_pixels_mve, packed), USMP_OFFSET(usmp_pixels_mve, jump), USMP_OFFSET(usmp_pixels_mve, step), \
    USMP_OFFSET(usmp_pixels_mve, low), USMP_OFFSET(usmp_pixels_mve, count), USMP_OFFSET(usmp_pixels_mve, input_step), \
    USMP_OFFSET(usmp_pixels_mve, run), USMP_OFFSET(usmp_pixels_mve, runs), USMP_OFFSET(usmp_pixels_mve, blocks)

/* After the blocks of a pixel: goes on to the next one, at 1, or returns.  r10 is p, PLACE that of the input, and r3
 * that of the output; BYTES of the stack are the function's, the second word how many pixels are left. */
#define USMP_MVE_NEXT_PIXEL(PLACE, BYTES) \
    "ldrd           r0, r2, [r10, %[input_step]]\n\t" \
    "add            " PLACE ", " PLACE ", r0\n\t" \
    "add            r3, r3, r2\n\t" \
    "ldr            r0, [sp, #4]\n\t" \
    "subs           r0, r0, #1\n\t" \
    "str            r0, [sp, #4]\n\t" \
    "bne            1b\n\t" \
    "add            sp, sp, #" BYTES "\n\t" \
    "vpop           {d8-d15}\n\t" \
    "pop            {r4-r11, pc}\n\t"

/* Splits channels into blocks of `size`, in the order of the kernel: pairs of how many blocks, of how many channels
 * each; then 0. */
static inline void usmp_split_mve(int32_t channels, int32_t size, int32_t direction, int32_t blocks[5])
{
    const int32_t whole = channels / size;
    const int32_t rest = channels % size;
    const int is_rest_first = whole == 0 || (rest != 0 && direction < 0);

    blocks[0] = is_rest_first ? 1 : whole;
    blocks[1] = is_rest_first ? rest : size;
    blocks[2] = is_rest_first ? whole : rest != 0;
    blocks[3] = is_rest_first ? size : rest;
    blocks[4] = 0;
}

/* Describes a layer with packed blocks of `bytes` for `size` channels each; returns the channel that comes first.  The
 * caller adds the number of pixels, and the runs. */
static inline int32_t usmp_describe_mve(
    const struct usmp_conv_2d_s8_parameters *p, const int32_t *packed, int32_t size, int32_t bytes,
    struct usmp_pixels_mve *pixels)
{
    const struct usmp_walk channels = usmp_walk_along(p->output_channels, size, p->direction);

    pixels->packed = (const int8_t *)packed + channels.first / size * bytes;
    pixels->jump = p->direction < 0 ? -2 * bytes : 0;
    pixels->zero_point = p->output_zero_point;
    pixels->step = channels.step;
    pixels->low = p->low + p->output_zero_point;
    pixels->high = p->high + p->output_zero_point;
    pixels->input_step = p->direction * p->stride * p->input_pitch;
    pixels->output_step = p->direction * p->output_pitch - (channels.end - channels.first);
    usmp_split_mve(p->output_channels, size, p->direction, pixels->blocks);
    return channels.first;
}

/* Windows that slide along a row. */
struct usmp_row_mve {
    int32_t reach; /* from the first pixel under a window to the last one */
    int32_t stride;
    int32_t before; /* pixels before the row that the first window covers */
    int32_t input_width;
    int32_t output_width;
    int32_t direction;
};

/* Returns the number of pixels, from pixel `x` on in the direction of the kernel, with windows inside of the row. */
static inline int32_t usmp_windows_inside_mve(struct usmp_row_mve row, int32_t x)
{
    const int32_t last = row.input_width - 1 - row.reach + row.before; /* place of the last window, from the first one's */
    const int32_t first_pixel = (row.before + row.stride - 1) / row.stride;
    const int32_t end_pixel = last < 0 ? 0 : usmp_minimum(last / row.stride + 1, row.output_width);

    if (x < first_pixel || x >= end_pixel) {
        return 0;
    }
    return row.direction < 0 ? x - first_pixel + 1 : end_pixel - x;
}

static inline int32_t usmp_pixels_inside_mve(const struct usmp_conv_2d_s8_parameters *p, int32_t x)
{
    const struct usmp_row_mve row = {
        (p->window_width - 1) * p->dilation, p->stride, p->before, p->input_width, p->output_width, p->direction};
    return usmp_windows_inside_mve(row, x);
}

/* A word of a packed block. */
static inline int32_t usmp_word_mve(const int8_t *packed, int32_t index)
{
    return ((const usmp_i32 *)(const void *)packed)[index];
}

/* A sum as an output; `shift` is negative: to the right. */
static inline int8_t usmp_output_s8_mve(
    const struct usmp_pixels_mve *p, uint32_t sum, int32_t multiplier, int32_t shift)
{
    const int32_t scaled = usmp_scale_down((int32_t)sum, multiplier, -shift);
    return (int8_t)usmp_clamp(scaled + p->zero_point, p->low, p->high);
}

#endif
