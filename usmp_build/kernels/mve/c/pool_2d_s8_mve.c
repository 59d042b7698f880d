/* AVERAGE_POOL_2D and MAX_POOL_2D of int8 with Helium. */
#include "arithmetic.h"
#include "mve.h"
#include "pool_2d.h"
#include "walk.h"
#include "window.h"

/* The part of a window that is inside of the image, and the blocks of channels.  The assembly loads members in
 * pairs. */
struct usmp_window_mve {
    const int8_t *const *rows; /* under the window */
    int32_t height;            /* how many rows */
    int32_t width;             /* pixels of each */
    int32_t pitch;             /* from one pixel to the next */
    int32_t step;              /* from the channels of a block to those of the next one */
    int32_t low;               /* limits of the output */
    int32_t high;
    int32_t outside;           /* of an average: the sum of all pixels outside of the image */
    int32_t count;             /* of an average: how many pixels it counts */
    int32_t half;              /* what rounds a sum before it is divided by their number: */
    int32_t multiplier;        /* multiplied; the upper 16 bits of that */
    int32_t shift;             /* are shifted; negative: to the right */
    int32_t pixels;            /* of the output, whose windows have as many pixels inside of the image */
    int32_t input_step;        /* from where another block would follow to the next window */
    int32_t output_step;       /* and to the next pixel */
    int32_t blocks[5];         /* how many blocks, of how many channels each; how many others, of how many; 0 */
};

/* The members that assembly loads, as its operands. */
#define USMP_MVE_WINDOW \
    USMP_OFFSET(usmp_window_mve, rows), USMP_OFFSET(usmp_window_mve, width), USMP_OFFSET(usmp_window_mve, step), \
    USMP_OFFSET(usmp_window_mve, low), USMP_OFFSET(usmp_window_mve, outside), USMP_OFFSET(usmp_window_mve, half), \
    USMP_OFFSET(usmp_window_mve, shift), USMP_OFFSET(usmp_window_mve, pixels), \
    USMP_OFFSET(usmp_window_mve, input_step), USMP_OFFSET(usmp_window_mve, blocks)

/* The output of a channel. */
static inline USMP_UNUSED int8_t usmp_maximum_under_mve(const struct usmp_window_mve *p, int32_t channel)
{
    int32_t most = p->low;

    for (int32_t y = 0; y < p->height; ++y) {
        for (int32_t x = 0; x < p->width; ++x) {
            most = usmp_maximum(most, p->rows[y][channel + x * p->pitch]);
        }
    }
    return (int8_t)usmp_minimum(most, p->high);
}

static inline USMP_UNUSED int8_t usmp_average_under_mve(const struct usmp_window_mve *p, int32_t channel)
{
    int32_t sum = p->outside;

    for (int32_t y = 0; y < p->height; ++y) {
        for (int32_t x = 0; x < p->width; ++x) {
            sum += p->rows[y][channel + x * p->pitch];
        }
    }
    const uint32_t rounded = (uint32_t)((sum < 0 ? -sum : sum) + p->half);
    const int32_t mean = (int32_t)(rounded * (uint32_t)p->multiplier >> 16 >> -p->shift);
    return (int8_t)usmp_clamp(sum < 0 ? -mean : mean, p->low, p->high);
}

/* Makes pixels, from the channels at an offset in each row on, sixteen in a turn. */
static inline USMP_UNUSED void usmp_pool_pixels_mve(
    const struct usmp_window_mve *p, int32_t offset,
    int8_t (*of_channel)(const struct usmp_window_mve *, int32_t), int8_t *output)
{
    for (int32_t pixel = 0; pixel < p->pixels; ++pixel, offset += p->input_step, output += p->output_step) {
        for (const int32_t *blocks = p->blocks; blocks[0] != 0; blocks += 2) {
            for (int32_t left = blocks[0]; left != 0; --left, offset += p->step, output += p->step) {
                int8_t outputs[16];

                for (int32_t i = 0; i < blocks[1]; ++i) {
                    outputs[i] = of_channel(p, offset + i);
                }
                for (int32_t i = 0; i < blocks[1]; ++i) {
                    output[i] = outputs[i];
                }
            }
        }
    }
}

/* The same: BEGIN makes q0, and perhaps q1, of r3 and r4, the limits; PIXEL adds q2, sixteen channels of a pixel; END
 * makes the outputs of them, in q0, and may use r3, r4, q2 and q3. */
#define USMP_MVE_POOL(BEGIN, PIXEL, END) \
    /* r0 p, r1 offset, r2 output, r5 pitch, r6 step, r7 blocks left, r8 rows left, r9 pointers to rows, r10 width, r11 \
     * pixels, r12 blocks */ \
    "push           {r4-r11, lr}\n\t" \
    "ldr            r3, [r0, %[pixels]]\n\t" \
    "push           {r3, r4}\n\t" /* pixels; nothing */ \
    "ldrd           r10, r5, [r0, %[width]]\n\t" /* and pitch */ \
    "ldr            r6, [r0, %[step]]\n\t" /* from block to block */ \
    "0:\n\t" /* a pixel of the output */ \
    "add            r12, r0, %[blocks]\n\t" \
    "1:\n\t" \
    "ldrd           r7, r8, [r12], #8\n\t" /* how many blocks, their channels */ \
    "cmp            r7, #0\n\t" \
    "beq            5f\n\t" \
    "vctp.8         r8\n\t" \
    "2:\n\t" /* a block */ \
    "ldrd           r3, r4, [r0, %[low]]\n\t" \
    BEGIN \
    "ldrd           r9, r8, [r0, %[rows]]\n\t" /* and height */ \
    "3:\n\t" /* a row */ \
    "ldr            r11, [r9], #4\n\t" \
    "add            r11, r11, r1\n\t" \
    "dls            lr, r10\n\t" \
    "4:\n\t" /* a pixel under its window */ \
    "vpst\n\t" \
    "vldrbt.u8      q2, [r11]\n\t" \
    "add            r11, r11, r5\n\t" \
    PIXEL \
    "le             lr, 4b\n\t" \
    "subs           r8, r8, #1\n\t" \
    "bne            3b\n\t" \
    END \
    "vpst\n\t" \
    "vstrbt.8       q0, [r2]\n\t" \
    "add            r1, r1, r6\n\t" \
    "add            r2, r2, r6\n\t" \
    "subs           r7, r7, #1\n\t" \
    "bne            2b\n\t" \
    "b              1b\n\t" \
    "5:\n\t" \
    "ldrd           r3, r4, [r0, %[input_step]]\n\t" \
    "add            r1, r1, r3\n\t" /* to the next pixel */ \
    "add            r2, r2, r4\n\t" \
    "ldr            r3, [sp]\n\t" \
    "subs           r3, r3, #1\n\t" \
    "str            r3, [sp]\n\t" \
    "bne            0b\n\t" \
    "add            sp, sp, #8\n\t" \
    "pop            {r4-r11, pc}\n\t"

static USMP_MVE_ASSEMBLY void usmp_max_pool_pixels_mve(
    const struct usmp_window_mve *p USMP_UNUSED, int32_t offset USMP_UNUSED,
    int8_t *output USMP_UNUSED)
{
#if USMP_MVE
    __asm__ volatile(USMP_MVE_POOL(
        "vdup.8         q0, r3\n\t"
        "vdup.8         q3, r4\n\t",
        "vmax.s8        q0, q0, q2\n\t",
        "vmin.s8        q0, q0, q3\n\t")
        :
        : USMP_MVE_WINDOW);
#else
    usmp_pool_pixels_mve(p, offset, usmp_maximum_under_mve, output);
#endif
}

/* Divides sums of 16 bits by `count`: SUMS to means, halves away from zero.  r4 is `half`, q3 `multiplier`, r3
 * `shift`. */
#define USMP_MVE_MEAN(SUMS) \
    "vshr.s16       q2, " SUMS ", #15\n\t" /* -1 for negative numbers: these change sign before and after */ \
    "vabs.s16       " SUMS ", " SUMS "\n\t" \
    "vadd.i16       " SUMS ", " SUMS ", r4\n\t" \
    "vmulh.u16      " SUMS ", " SUMS ", q3\n\t" \
    "vshl.u16       " SUMS ", r3\n\t" \
    "veor           " SUMS ", " SUMS ", q2\n\t" \
    "vsub.i16       " SUMS ", " SUMS ", q2\n\t"

static USMP_MVE_ASSEMBLY void usmp_average_pool_pixels_mve(
    const struct usmp_window_mve *p USMP_UNUSED, int32_t offset USMP_UNUSED,
    int8_t *output USMP_UNUSED)
{
#if USMP_MVE
    __asm__ volatile(USMP_MVE_POOL(
        "ldr            r3, [r0, %[outside]]\n\t"
        "vdup.16        q0, r3\n\t" /* sums of even channels */
        "vdup.16        q1, r3\n\t", /* of odd ones */
        "vmovlb.s8      q3, q2\n\t"
        "vadd.i16       q0, q0, q3\n\t"
        "vmovlt.s8      q3, q2\n\t"
        "vadd.i16       q1, q1, q3\n\t",
        "ldrd           r4, r3, [r0, %[half]]\n\t"
        "vdup.16        q3, r3\n\t"
        "ldr            r3, [r0, %[shift]]\n\t"
        USMP_MVE_MEAN("q0")
        USMP_MVE_MEAN("q1")
        "ldrd           r3, r4, [r0, %[low]]\n\t"
        "vmovnt.i16     q0, q1\n\t" /* the lower halves of even ones are in their place */
        "vdup.8         q1, r3\n\t"
        "vmax.s8        q0, q0, q1\n\t"
        "vdup.8         q1, r4\n\t"
        "vmin.s8        q0, q0, q1\n\t")
        :
        : USMP_MVE_WINDOW);
#else
    usmp_pool_pixels_mve(p, offset, usmp_average_under_mve, output);
#endif
}

/* Prepares the division by `count`, from 1 to 256, of a rounded sum of as many int8: by the factor above 1 / count that
 * has 16 bits, the highest of them set.  For 1, such a factor is too small by 2^-16, and `half` makes up for it. */
static inline void usmp_count_pixels_mve(struct usmp_window_mve *window, int32_t count)
{
    int32_t right = 0;

    while (2 << right < count) {
        ++right;
    }
    window->count = count;
    window->half = count == 1 ? 1 : count / 2;
    window->multiplier = count == 1 ? 65535 : ((65536 << right) + count - 1) / count;
    window->shift = -right;
}

static inline void usmp_pool_2d_s8_mve(
    const struct usmp_pool_2d_s8_parameters *p, const int8_t *const *rows, int is_average, int8_t *output)
{
    const int32_t all = p->window_height * p->window_width;
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk channels = usmp_walk_along(p->channels, 16, p->direction);
    const struct usmp_row_mve row = {
        p->window_width - 1, p->stride, p->before, p->input_width, p->output_width, p->direction};
    int32_t first_row = 0;
    int32_t height = 0; /* of the part of the window that is inside */
    struct usmp_window_mve window;

    for (int32_t y = p->window_height - 1; y >= 0; --y) {
        first_row = rows[y] == NULL ? first_row : y;
        height += rows[y] != NULL;
    }
    window.rows = rows + first_row;
    window.height = height;
    window.pitch = p->input_pitch;
    window.step = channels.step;
    window.low = p->low;
    window.high = p->high;
    window.count = 0;
    window.input_step = p->direction * p->stride * p->input_pitch - (channels.end - channels.first);
    window.output_step = p->direction * p->output_pitch - (channels.end - channels.first);
    usmp_split_mve(p->channels, 16, p->direction, window.blocks);
    for (int32_t x = pixels.first; x != pixels.end; x += window.pixels * pixels.step) {
        const int32_t start = x * p->stride - p->before;
        const struct usmp_taps taps = usmp_taps_inside(start, 1, p->window_width, p->input_width);
        const int32_t inside = height * (taps.end - taps.first);
        const int32_t count = p->counts_outside ? all : inside;

        window.pixels = usmp_maximum(usmp_windows_inside_mve(row, x), 1);
        window.width = taps.end - taps.first;
        window.outside = p->counts_outside ? (all - inside) * p->outside : 0;
        if (is_average && window.count != count) {
            usmp_count_pixels_mve(&window, count);
        }
        const int32_t offset = (start + taps.first) * p->input_pitch + channels.first;
        int8_t *const pixel = output + x * p->output_pitch + channels.first;
        if (is_average) {
            usmp_average_pool_pixels_mve(&window, offset, pixel);
        } else {
            usmp_max_pool_pixels_mve(&window, offset, pixel);
        }
    }
}

/* One output row from the input rows under a window of at most 256 pixels; a row that is NULL is padding. */
void usmp_average_pool_2d_s8_mve_row(
    const struct usmp_pool_2d_s8_parameters *p, const int8_t *const *rows, int8_t *output)
{
    usmp_pool_2d_s8_mve(p, rows, 1, output);
}

/* One output row from the input rows under the window; a row that is NULL is padding. */
void usmp_max_pool_2d_s8_mve_row(
    const struct usmp_pool_2d_s8_parameters *p, const int8_t *const *rows, int8_t *output)
{
    usmp_pool_2d_s8_mve(p, rows, 0, output);
}
