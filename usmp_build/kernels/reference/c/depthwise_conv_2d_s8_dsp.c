#include <string.h>

#include "arithmetic.h"
#include "depthwise_conv_2d_dsp.h"
#include "dsp.h"
#include "taps.h"
#include "walk.h"
#include "window.h"

/* Pixels, and the blocks of four channels to make of each.  The assembly knows the members by their offsets. */
struct usmp_depthwise_s8_dsp {
    const int8_t *const *taps; /*  0: of the first pixel */
    int32_t offset;            /*  4: from the taps to the channels of the first block */
    int32_t loops;             /*  8: over four pairs of taps */
    int32_t skip;              /* 12: bytes of code that the first loop leaves out */
    uintptr_t entry;           /* 16, 20: for the function alone */
    uintptr_t pairs;
    int8_t *output;            /* 24: of the first block of the first pixel */
    int32_t step;              /* 28: from a block to the next one, in bytes of input and output */
    uintptr_t end;             /* 32: where the block after the last one begins */
    int32_t back;              /* 36: bytes from the end of a block to the beginning of the next one */
    const int32_t *packed;     /* 40: the first block */
    int32_t rounding;          /* 44: 1 + 2 * the output's zero point */
    int32_t is_clamped;        /* 48: whether the limits of outputs are not those of int8 */
    int32_t low;               /* 52 */
    int32_t high;              /* 56 */
    int32_t is_odd;            /* 60: whether there is a tap without another one: the first */
    int32_t pixels;            /* 64 */
    int32_t offset_step;       /* 68: from where the block after the last one would be to the next pixel */
    int32_t output_step;       /* 72: the same of outputs */
    int32_t count;             /* 76: of taps */
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
 * for each tap, four multipliers, doubled, less 2^32, and a word of their right shifts less 1, or of shifts of
 * usmp_scaled_steep_s8_dsp. */
static USMP_ASSEMBLY void usmp_depthwise_blocks_s8_dsp(struct usmp_depthwise_s8_dsp *blocks USMP_UNUSED)
{
#if USMP_DSP
    __asm__ volatile(
        /* r0 taps, r1 packed, r2 offset, r3 loops, r4 r5 input, r6 r12 weights, r7 lr their halves, r8 to r11 sums */
        "push   {r0, r4-r11, lr}\n\t"
        "mov    r7, r0\n\t"
        "adr    r4, 3f\n\t"
        "ldr    r2, [r7, #12]\n\t"
        "add    r5, r4, r2\n\t"
        "adds   r5, #1\n\t" /* an address of Thumb code */
        "mov    r4, r5\n\t"
        "ldr    r3, [r7, #60]\n\t"
        "cbz    r3, 0f\n\t"
        "adr    r4, 2f\n\t"
        "adds   r4, #1\n\t"
        "0:\n\t"
        "strd   r4, r5, [r7, #16]\n\t"
        "ldr    r1, [r7, #40]\n\t"
        "ldr    r2, [r7, #4]\n\t"

        "1:\n\t" /* a block of four channels */
        "ldm    r1!, {r8, r9, r10, r11}\n\t"
        "ldr    r0, [r7]\n\t"
        "ldrd   r4, r5, [r7, #16]\n\t"
        "ldr    r3, [r7, #8]\n\t"
        "bx     r4\n\t"
        ".balign 4\n\t"
        "2:\n\t"
        "ldr    r4, [r0], #4\n\t"
        "ldr    r6, [r1], #4\n\t"
        "ldr    r4, [r4, r2]\n\t"
        USMP_DSP_TAP("r4", "r6")
        "bx     r5\n\t"
        ".balign 4\n\t"
        "3:\n\t"
        ".rept  4\n\t" /* 80 bytes of code for each pair of taps */
        "ldrd   r4, r5, [r0], #8\n\t"
        "ldrd   r6, r12, [r1], #8\n\t"
        "ldr.w  r4, [r4, r2]\n\t"
        "ldr.w  r5, [r5, r2]\n\t"
        USMP_DSP_TAP("r4", "r6")
        USMP_DSP_TAP("r5", "r12")
        ".endr\n\t"
        "subs.w r3, r3, #1\n\t"
        "bne.w  3b\n\t"

        "ldr    r7, [sp]\n\t" /* the sums become outputs */
        "ldm    r1!, {r3, r4, r5, r6, r12}\n\t"
        "ldrd   lr, r0, [r7, #44]\n\t"
        "tst    r12, #128\n\t"
        "bne.w  6f\n\t"
        "smmlar r8, r8, r3, r8\n\t"
        "smmlar r9, r9, r4, r9\n\t"
        "smmlar r10, r10, r5, r10\n\t"
        "smmlar r11, r11, r6, r11\n\t"
        "add    r8, r8, r8, asr #31\n\t"
        "add    r9, r9, r9, asr #31\n\t"
        "add    r10, r10, r10, asr #31\n\t"
        "add    r11, r11, r11, asr #31\n\t"
        "asr    r8, r8, r12\n\t" /* by the lowest byte */
        "lsr    r12, r12, #8\n\t"
        "asr    r9, r9, r12\n\t"
        "lsr    r12, r12, #8\n\t"
        "asr    r10, r10, r12\n\t"
        "lsr    r12, r12, #8\n\t"
        "asr    r11, r11, r12\n\t"
        "5:\n\t"
        "ldrd   r12, r3, [r7, #24]\n\t"
        ".irp   sum, r8, r9, r10, r11\n\t"
        "add    \\sum, \\sum, lr\n\t"
        "ssat   \\sum, #8, \\sum, asr #1\n\t"
        ".endr\n\t"
        "cbz    r0, 4f\n\t"
        "ldrd   r4, r5, [r7, #52]\n\t"
        ".irp   sum, r8, r9, r10, r11\n\t"
        "cmp    \\sum, r4\n\t"
        "it     lt\n\t"
        "movlt  \\sum, r4\n\t"
        "cmp    \\sum, r5\n\t"
        "it     gt\n\t"
        "movgt  \\sum, r5\n\t"
        ".endr\n\t"

        "4:\n\t"
        "strb   r8, [r12]\n\t"
        "strb   r9, [r12, #1]\n\t"
        "strb   r10, [r12, #2]\n\t"
        "strb   r11, [r12, #3]\n\t"
        "add    r12, r12, r3\n\t"
        "add    r2, r2, r3\n\t"
        "str    r12, [r7, #24]\n\t"
        "ldrd   r3, r4, [r7, #32]\n\t"
        "add    r1, r1, r4\n\t"
        "cmp    r1, r3\n\t"
        "bne.w  1b\n\t"
        "ldrd   r3, r4, [r7, #64]\n\t" /* the next pixel */
        "ldr    r5, [r7, #72]\n\t"
        "ldr    r1, [r7, #40]\n\t"
        "add    r2, r2, r4\n\t"
        "add    r12, r12, r5\n\t"
        "str    r12, [r7, #24]\n\t"
        "subs   r3, #1\n\t"
        "str    r3, [r7, #64]\n\t"
        "bne.w  1b\n\t"
        "pop    {r0, r4-r11, pc}\n\t"

        "6:\n\t" /* sums become outputs, by factors of 1/2 or more */
        USMP_DSP_STEEP("r8", "r3", "r12", "r7")
        USMP_DSP_STEEP("r9", "r4", "r12", "r7")
        USMP_DSP_STEEP("r10", "r5", "r12", "r7")
        USMP_DSP_STEEP("r11", "r6", "r12", "r7")
        "ldr    r7, [sp]\n\t"
        "b.w    5b\n\t");
#else
    const int32_t *at = blocks->packed;

    while (blocks->pixels > 0) {
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
            const int32_t byte = factors[4] >> 8 * i & 0xff;
            const int32_t result = usmp_output_s8_dsp(sums[i], factors[i], byte, blocks->rounding);
            blocks->output[i] =
                (int8_t)(result < blocks->low ? blocks->low : result > blocks->high ? blocks->high : result);
        }
        blocks->offset += blocks->step;
        blocks->output += blocks->step;
        at = factors + 5 + blocks->back / 4;
        if ((uintptr_t)at == blocks->end) {
            --blocks->pixels;
            blocks->offset += blocks->offset_step;
            blocks->output += blocks->output_step;
            at = blocks->packed;
        }
    }
#endif
}

/* Makes one channel that is left over.  `packed` has the sum to begin with, multiplier, right shift less 1 or
 * shifts, and a word for each weight. */
static inline int8_t usmp_depthwise_channel_s8_dsp(
    const struct usmp_depthwise_s8_dsp *pixel, const int32_t *packed, int32_t offset)
{
    int32_t sum = packed[0];
    int32_t result;

    for (int32_t tap = 0; tap < pixel->count; ++tap) {
        sum += pixel->taps[tap][offset] * packed[3 + tap];
    }
    result = usmp_output_s8_dsp(sum, packed[1], packed[2], pixel->rounding);
    return (int8_t)(result < pixel->low ? pixel->low : result > pixel->high ? pixel->high : result);
}

/* Makes `channels` channels of `pixels` pixels in a row, all in blocks of four; `offset` is from the taps to the first
 * pixel. */
static inline void usmp_make_fours_s8_dsp(
    struct usmp_depthwise_s8_dsp *blocks, const struct usmp_depthwise_conv_2d_s8_parameters *p, const int32_t *packed,
    int32_t channels, int32_t pixels, int32_t offset, int8_t *output)
{
    const int32_t block = 9 + blocks->count;
    const int32_t first = p->direction < 0 ? channels / 4 - 1 : 0;
    const int32_t passed = p->direction < 0 ? -1 : channels / 4;

    blocks->pixels = pixels;
    blocks->packed = packed + first * block;
    blocks->end = (uintptr_t)packed + 4 * (uintptr_t)block * (uintptr_t)(intptr_t)passed;
    blocks->back = p->direction < 0 ? -8 * block : 0;
    blocks->step = 4 * p->direction;
    blocks->offset = offset + 4 * first;
    blocks->output = output + 4 * first;
    blocks->offset_step = p->direction * (p->stride * p->input_pitch - channels);
    blocks->output_step = p->direction * (p->output_pitch - channels);
    usmp_depthwise_blocks_s8_dsp(blocks);
}

/* Makes `channels` channels of a pixel; `offset` is from the taps to it. */
static inline void usmp_depthwise_pixel_s8_dsp(
    struct usmp_depthwise_s8_dsp *pixel, const struct usmp_depthwise_conv_2d_s8_parameters *p, const int32_t *packed,
    int32_t channels, int32_t offset, int8_t *output)
{
    const int32_t fours = channels / 4;
    const struct usmp_walk turns = usmp_walk_along(channels - 4 * fours + 1, 1, p->direction);

    for (int32_t turn = turns.first; turn != turns.end; turn += turns.step) {
        if (turn > 0) {
            const int32_t c = 4 * fours + turn - 1;
            const int32_t *const alone = packed + fours * (9 + pixel->count) + (turn - 1) * (3 + pixel->count);
            output[c] = usmp_depthwise_channel_s8_dsp(pixel, alone, offset + c);
        } else if (fours > 0) {
            usmp_make_fours_s8_dsp(pixel, p, packed, 4 * fours, 1, offset, output);
        }
    }
}

static inline void usmp_set_window_s8_dsp(
    struct usmp_depthwise_s8_dsp *pixel, const struct usmp_depthwise_conv_2d_s8_parameters *p)
{
    const int32_t count = p->window_height * p->window_width;
    const int32_t pairs = count / 2;

    pixel->count = count;
    pixel->is_odd = count % 2;
    pixel->loops = (pairs + 3) / 4;
    pixel->skip = pairs == 0 ? 80 * 4 + 8 : 80 * (4 * pixel->loops - pairs);
    pixel->rounding = 1 + 2 * p->output_zero_point;
    pixel->low = p->low + p->output_zero_point;
    pixel->high = p->high + p->output_zero_point;
    pixel->is_clamped = pixel->low > -128 || pixel->high < 127;
}

void usmp_depthwise_conv_2d_s8_dsp_row(
    const struct usmp_depthwise_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed,
    const int8_t *zeros, int8_t *output)
{
    const int32_t height = p->window_height;
    const int32_t width = p->window_width;
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_taps inside = usmp_positions_inside_s8(
        rows, height, (width - 1) * p->dilation + 1, p->stride, p->before, p->input_width, p->output_width);
    const int32_t input_step = p->direction * p->stride * p->input_pitch;
    const int8_t *taps[64];
    struct usmp_depthwise_s8_dsp pixel;
    int32_t count = 1;

    usmp_set_window_s8_dsp(&pixel, p);
    pixel.taps = taps;
    for (int32_t x = pixels.first; x != pixels.end; x += count * pixels.step) {
        const int32_t start = x * p->stride - p->before;

        count = x >= inside.first && x < inside.end ? inside.end - inside.first : 1;
        usmp_find_taps_s8(rows, zeros, height, width, start, p->dilation, p->input_width, p->input_pitch, 1, taps);
        if (p->input_channels % 4 == 0) {
            usmp_make_fours_s8_dsp(&pixel, p, packed, p->input_channels, count, 0, output + x * p->output_pitch);
            continue;
        }
        for (int32_t i = 0; i < count; ++i) {
            int8_t *const to = output + (x + i * pixels.step) * p->output_pitch;
            usmp_depthwise_pixel_s8_dsp(&pixel, p, packed, p->input_channels, i * input_step, to);
        }
    }
}

/* Repeats each channel of a pixel as often as it has filters, and writes `count` of these bytes from byte `first` on, a
 * multiple of four; with up to 31 bytes more. */
static inline void usmp_repeat_channels_s8_dsp(
    const int8_t *pixel, int32_t multiplier, int32_t first, int32_t count, int8_t *to)
{
    const int8_t *const end = to + count;
    int32_t left = multiplier - first % multiplier;

    pixel += first / multiplier;
    for (; multiplier == 2 && end - to >= 4; to += 4, pixel += 2) {
        const uint32_t four = ((uint32_t)(uint8_t)pixel[0] | (uint32_t)(uint8_t)pixel[1] << 16) * 0x0101u;
        memcpy(to, &four, 4);
    }
    for (; to < end; to += left, left = multiplier, ++pixel) {
        const uint32_t four = (uint32_t)(uint8_t)*pixel * 0x01010101u;

        for (; left > 4; to += 4, left -= 4) {
            memcpy(to, &four, 4);
        }
        memcpy(to, &four, 4);
    }
}

void usmp_depthwise_conv_2d_repeated_s8_dsp_row(
    const struct usmp_depthwise_conv_2d_s8_parameters *p, const int8_t *const *rows, const int32_t *packed,
    const int8_t *zeros, int8_t *output)
{
    const int32_t count = p->window_height * p->window_width;
    const int32_t channels = p->input_channels * p->depth_multiplier;
    const int32_t most = 256 / count / 4 * 4; /* outputs whose inputs fit `repeated` */
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk parts = usmp_walk_along((channels + most - 1) / most, 1, p->direction);
    const int8_t *taps[64];
    const int8_t *copies[64];
    int8_t repeated[256 + 31];
    struct usmp_depthwise_s8_dsp pixel;

    usmp_set_window_s8_dsp(&pixel, p);
    pixel.taps = copies;
    for (int32_t tap = 0; tap < count; ++tap) {
        copies[tap] = repeated + tap * most;
    }
    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        usmp_find_taps_s8(
            rows, zeros, p->window_height, p->window_width, x * p->stride - p->before, p->dilation, p->input_width,
            p->input_pitch, 1, taps);
        for (int32_t part = parts.first; part != parts.end; part += parts.step) {
            const int32_t first = part * most;
            const int32_t size = usmp_minimum(most, channels - first);

            for (int32_t tap = 0; tap < count; ++tap) {
                usmp_repeat_channels_s8_dsp(taps[tap], p->depth_multiplier, first, size, repeated + tap * most);
            }
            usmp_depthwise_pixel_s8_dsp(
                &pixel, p, packed + first / 4 * (9 + count), size, 0, output + x * p->output_pitch + first);
        }
    }
}
