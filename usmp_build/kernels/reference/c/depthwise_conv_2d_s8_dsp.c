#include "depthwise_conv_2d_dsp.h"
#include "dsp.h"
#include "taps.h"
#include "walk.h"

/* A pixel, and the blocks of four channels to make of it.  The assembly knows the members by their offsets. */
struct usmp_depthwise_s8_dsp {
    const int8_t *const *taps; /*  0 */
    int32_t offset;            /*  4: from the taps to the channels of the first block */
    int32_t loops;             /*  8: over four pairs of taps */
    uintptr_t entry;           /* 12: for the function alone */
    int32_t skip;              /* 16: bytes of code that the first loop leaves out */
    int32_t is_odd;            /* 20: whether there is a last tap without another one */
    int8_t *output;            /* 24: of the first block */
    int32_t step;              /* 28: from a block to the next one, in bytes of input and output */
    uintptr_t end;             /* 32: where the block after the last one begins */
    int32_t back;              /* 36: bytes from the end of a block to the beginning of the next one */
    int32_t is_clamped;        /* 40: whether the limits of outputs are not those of int8 */
    int32_t rounding;          /* 44: 1 + 2 * the output's zero point */
    int32_t low;               /* 48 */
    int32_t high;              /* 52 */
    const int32_t *packed;     /* 56: the first block */
    int32_t count;             /* 60: of taps */
};

/* Adds a tap: its word of four channels times that of their weights. */
#define USMP_DSP_TAP(INPUT, WEIGHTS) \
    "sxtb16 lr, " INPUT "\n\t" \
    "sxtb16 r7, " WEIGHTS "\n\t" \
    "sxtb16 " INPUT ", " INPUT ", ror #8\n\t" \
    "sxtb16 " WEIGHTS ", " WEIGHTS ", ror #8\n\t" \
    "smlabb r8, lr, r7, r8\n\t" \
    "smlatt r10, lr, r7, r10\n\t" \
    "smlabb r9, " INPUT ", " WEIGHTS ", r9\n\t" \
    "smlatt r11, " INPUT ", " WEIGHTS ", r11\n\t"

/* Makes the channels of all these blocks.  `packed` has for each block four sums to begin with, a word of four weights
 * for each tap, four multipliers, and a word of their right shifts less 1. */
static USMP_ASSEMBLY void usmp_depthwise_blocks_s8_dsp(struct usmp_depthwise_s8_dsp *blocks USMP_UNUSED)
{
#if USMP_DSP
    __asm__ volatile(
        /* r0 taps, r1 packed, r2 offset, r3 loops, r4 r5 input, r6 r12 weights, r7 lr their halves, r8 to r11 sums */
        "push   {r0, r4-r11, lr}\n\t"
        "mov    r7, r0\n\t"
        "adr    r3, 2f\n\t"
        "ldr    r2, [r7, #16]\n\t"
        "adds   r3, r3, r2\n\t"
        "adds   r3, #1\n\t" /* an address of Thumb code */
        "str    r3, [r7, #12]\n\t"
        "ldr    r1, [r7, #56]\n\t"
        "ldr    r2, [r7, #4]\n\t"

        "1:\n\t" /* a block of four channels */
        "ldm    r1!, {r8, r9, r10, r11}\n\t"
        "ldr    r0, [r7]\n\t"
        "ldrd   r3, r4, [r7, #8]\n\t"
        "bx     r4\n\t"
        ".balign 4\n\t"
        "2:\n\t"
        ".rept  4\n\t" /* 80 bytes of code for each pair of taps */
        "ldrd   r4, r5, [r0], #8\n\t"
        "ldrd   r6, r12, [r1], #8\n\t"
        "ldr.w  r4, [r4, r2]\n\t"
        "ldr.w  r5, [r5, r2]\n\t"
        USMP_DSP_TAP("r4", "r6")
        USMP_DSP_TAP("r5", "r12")
        ".endr\n\t"
        "subs.w r3, r3, #1\n\t"
        "bne.w  2b\n\t"
        "ldr    r7, [sp]\n\t"
        "ldr    r3, [r7, #20]\n\t"
        "cbz    r3, 3f\n\t"
        "ldr    r4, [r0]\n\t"
        "ldr    r6, [r1], #4\n\t"
        "ldr    r4, [r4, r2]\n\t"
        USMP_DSP_TAP("r4", "r6")
        "ldr    r7, [sp]\n\t"

        "3:\n\t" /* twice the sums */
        "ldm    r1!, {r3, r4, r5, r6, r12}\n\t"
        "ldr    r0, [r7, #44]\n\t"
        "lsl    r8, r8, #1\n\t"
        "lsl    r9, r9, #1\n\t"
        "lsl    r10, r10, #1\n\t"
        "lsl    r11, r11, #1\n\t"
        "smmulr r8, r8, r3\n\t"
        "smmulr r9, r9, r4\n\t"
        "smmulr r10, r10, r5\n\t"
        "smmulr r11, r11, r6\n\t"
        ".irp   sum, r8, r9, r10, r11\n\t"
        "add    \\sum, \\sum, \\sum, asr #31\n\t"
        "asr    \\sum, \\sum, r12\n\t" /* by the lowest byte */
        "lsr    r12, r12, #8\n\t"
        "add    \\sum, \\sum, r0\n\t"
        "ssat   \\sum, #8, \\sum, asr #1\n\t"
        ".endr\n\t"
        "ldrd   r0, r3, [r7, #24]\n\t"
        "ldr    r4, [r7, #40]\n\t"
        "cbz    r4, 4f\n\t"
        "ldrd   r4, r5, [r7, #48]\n\t"
        ".irp   sum, r8, r9, r10, r11\n\t"
        "cmp    \\sum, r4\n\t"
        "it     lt\n\t"
        "movlt  \\sum, r4\n\t"
        "cmp    \\sum, r5\n\t"
        "it     gt\n\t"
        "movgt  \\sum, r5\n\t"
        ".endr\n\t"

        "4:\n\t"
        "strb   r8, [r0]\n\t"
        "strb   r9, [r0, #1]\n\t"
        "strb   r10, [r0, #2]\n\t"
        "strb   r11, [r0, #3]\n\t"
        "add    r0, r0, r3\n\t"
        "add    r2, r2, r3\n\t"
        "str    r0, [r7, #24]\n\t"
        "ldrd   r3, r4, [r7, #32]\n\t"
        "add    r1, r1, r4\n\t"
        "cmp    r1, r3\n\t"
        "bne.w  1b\n\t"
        "pop    {r0, r4-r11, pc}\n\t");
#else
    const int32_t *at = blocks->packed;

    do {
        const int32_t *const weights = at + 4;
        const int32_t *const factors = weights + blocks->count;
        int32_t sums[4];

        for (int32_t i = 0; i < 4; ++i) {
            sums[i] = at[i];
        }
        for (int32_t tap = 0; tap < blocks->count; ++tap) {
            for (int32_t i = 0; i < 4; ++i) {
                sums[i] += blocks->taps[tap][blocks->offset + i] * (int8_t)(weights[tap] >> 8 * i & 0xff);
            }
        }
        for (int32_t i = 0; i < 4; ++i) {
            const int32_t less = factors[4] >> 8 * i & 0xff;
            const int32_t result = usmp_scaled_s8_dsp(2 * sums[i], factors[i], less, blocks->rounding);
            blocks->output[i] =
                (int8_t)(result < blocks->low ? blocks->low : result > blocks->high ? blocks->high : result);
        }
        blocks->offset += blocks->step;
        blocks->output += blocks->step;
        at = factors + 5 + blocks->back / 4;
    } while ((uintptr_t)at != blocks->end);
#endif
}

/* Makes one channel that is left over.  `packed` has the sum to begin with, multiplier, right shift less 1,
 * and a word for each weight. */
static inline int8_t usmp_depthwise_channel_s8_dsp(
    const struct usmp_depthwise_s8_dsp *pixel, const int32_t *packed, int32_t offset)
{
    int32_t sum = packed[0];
    int32_t result;

    for (int32_t tap = 0; tap < pixel->count; ++tap) {
        sum += pixel->taps[tap][offset] * packed[3 + tap];
    }
    result = usmp_scaled_s8_dsp(2 * sum, packed[1], packed[2], pixel->rounding);
    return (int8_t)(result < pixel->low ? pixel->low : result > pixel->high ? pixel->high : result);
}

/* Makes all channels of a pixel; `offset` is from the taps to the first channel. */
static inline void usmp_depthwise_pixel_s8_dsp(
    struct usmp_depthwise_s8_dsp *pixel, const int32_t *packed, int32_t channels, int32_t direction, int32_t offset,
    int8_t *output)
{
    const int32_t fours = channels / 4;
    const int32_t block = 9 + pixel->count;
    const int32_t alone = 3 + pixel->count;
    const struct usmp_walk turns = usmp_walk_along(channels - 4 * fours + 1, 1, direction);

    for (int32_t turn = turns.first; turn != turns.end; turn += turns.step) {
        const int32_t c = 4 * fours + turn - 1;
        if (turn > 0) {
            output[c] =
                usmp_depthwise_channel_s8_dsp(pixel, packed + fours * block + (turn - 1) * alone, offset + c);
        } else if (fours > 0) { /* turn 0: all blocks */
            const int32_t first = direction < 0 ? fours - 1 : 0;
            pixel->packed = packed + first * block;
            pixel->end = (uintptr_t)packed + 4 * (uintptr_t)block * (direction < 0 ? (uintptr_t)-1 : (uintptr_t)fours);
            pixel->back = direction < 0 ? -8 * block : 0;
            pixel->step = 4 * direction;
            pixel->offset = offset + 4 * first;
            pixel->output = output + 4 * first;
            usmp_depthwise_blocks_s8_dsp(pixel);
        }
    }
}

void usmp_depthwise_conv_2d_s8_dsp_row(
    const struct usmp_depthwise_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed,
    const int8_t *zeros, int8_t *output)
{
    const int32_t height = p->window_height;
    const int32_t width = p->window_width;
    const int are_whole = usmp_are_all_inside(rows, height);
    const int32_t pairs = height * width / 2;
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const int8_t *taps[64];
    struct usmp_depthwise_s8_dsp pixel;
    int32_t first = 0; /* where the taps were found */
    int was_inside = 0;

    pixel.taps = taps;
    pixel.count = height * width;
    pixel.is_odd = pixel.count % 2;
    pixel.loops = (pairs + 3) / 4;
    pixel.skip = pairs == 0 ? 80 * 4 + 8 : 80 * (4 * pixel.loops - pairs);
    pixel.rounding = 1 + 2 * p->output_zero_point;
    pixel.low = p->low + p->output_zero_point;
    pixel.high = p->high + p->output_zero_point;
    pixel.is_clamped = pixel.low > -128 || pixel.high < 127;
    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        const int32_t start = x * p->stride - p->before;
        const int is_inside = are_whole && start >= 0 && start + (width - 1) * p->dilation < p->input_width;

        if (!(is_inside && was_inside)) { /* else they lie as before, `start - first` pixels on */
            usmp_find_taps(rows, zeros, height, width, start, p->dilation, p->input_width, p->input_pitch, 1, taps);
            first = start;
        }
        was_inside = is_inside;
        usmp_depthwise_pixel_s8_dsp(
            &pixel, packed, p->input_channels, p->direction, (start - first) * p->input_pitch,
            output + x * p->output_pitch);
    }
}
