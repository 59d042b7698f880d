#include <string.h>

#include "conv_2d.h"
#include "scalar.h"
#include "taps.h"
#include "usmp.h"
#include "walk.h"

/* Adds the products of input I of both pixels with a weight of each filter, which is read ahead of the products before
 * it: many cores wait for what is used at once. */
#define USMP_EIGHT_PRODUCTS(I) \
    do { \
        const int32_t x = first[I]; \
        const int32_t y = second[I]; \
        int32_t v = weights[4 * (I)]; \
        int32_t w = weights[4 * (I) + 1]; \
        USMP_TWO_PRODUCTS(sum_a, x, v, sum_e, y, v); \
        v = weights[4 * (I) + 2]; \
        USMP_TWO_PRODUCTS(sum_b, x, w, sum_f, y, w); \
        w = weights[4 * (I) + 3]; \
        USMP_TWO_PRODUCTS(sum_c, x, v, sum_g, y, v); \
        USMP_TWO_PRODUCTS(sum_d, x, w, sum_h, y, w); \
    } while (0)

/* The same in assembly: 14 instructions for 8 products. */
#define USMP_THUMB_TWO_PRODUCTS(FIRST, SECOND) \
    "ldrsb   lr, [r2], #1\n\t" \
    "mla     " FIRST ", r3, lr, " FIRST "\n\t" \
    "mla     " SECOND ", r12, lr, " SECOND "\n\t"

#define USMP_THUMB_EIGHT_PRODUCTS \
    "ldrsb   r3, [r0], #1\n\t" \
    "ldrsb   r12, [r1], #1\n\t" \
    USMP_THUMB_TWO_PRODUCTS("r4", "r8") \
    USMP_THUMB_TWO_PRODUCTS("r5", "r9") \
    USMP_THUMB_TWO_PRODUCTS("r6", "r10") \
    USMP_THUMB_TWO_PRODUCTS("r7", "r11")

/* Adds the products of `count` inputs of two pixels with four filters, whose weights of an input lie side by side. */
static USMP_THUMB_ASSEMBLY void usmp_add_two_runs_s8_scalar(
    const int8_t *first USMP_UNUSED, const int8_t *second USMP_UNUSED, const int8_t *weights USMP_UNUSED,
    int32_t count USMP_UNUSED, uint32_t *sums USMP_UNUSED)
{
#if USMP_THUMB
    __asm__ volatile(
        /* r0 r1 inputs, r2 weights, r4 to r11 sums; r3 r12 an input of each pixel, lr a weight */
        "push    {r3-r11, lr}\n\t"
        "ldr     lr, [sp, #40]\n\t"
        "ldm     lr, {r4-r11}\n\t"
        "subs    r3, r3, #4\n\t"
        "str     r3, [sp]\n\t"
        "blt     2f\n\t"

        "1:\n\t" /* four inputs of each */
        USMP_THUMB_EIGHT_PRODUCTS
        USMP_THUMB_EIGHT_PRODUCTS
        USMP_THUMB_EIGHT_PRODUCTS
        USMP_THUMB_EIGHT_PRODUCTS
        "ldr     r3, [sp]\n\t"
        "subs    r3, r3, #4\n\t"
        "str     r3, [sp]\n\t"
        "bge     1b\n\t"

        "2:\n\t"
        "adds    r3, r3, #4\n\t"
        "beq     4f\n\t"

        "3:\n\t" /* one input of each */
        "str     r3, [sp]\n\t"
        USMP_THUMB_EIGHT_PRODUCTS
        "ldr     r3, [sp]\n\t"
        "subs    r3, r3, #1\n\t"
        "bne     3b\n\t"

        "4:\n\t"
        "ldr     lr, [sp, #40]\n\t"
        "stm     lr, {r4-r11}\n\t"
        "pop     {r3-r11, pc}\n\t");
#else
    const int32_t whole = count - count % 4;
    uint32_t sum_a = sums[0], sum_b = sums[1], sum_c = sums[2], sum_d = sums[3];
    uint32_t sum_e = sums[4], sum_f = sums[5], sum_g = sums[6], sum_h = sums[7];

    for (int32_t i = 0; i < whole; i += 4) {
        USMP_EIGHT_PRODUCTS(i);
        USMP_EIGHT_PRODUCTS(i + 1);
        USMP_EIGHT_PRODUCTS(i + 2);
        USMP_EIGHT_PRODUCTS(i + 3);
    }
    for (int32_t i = whole; i < count; ++i) {
        USMP_EIGHT_PRODUCTS(i);
    }
    sums[0] = sum_a;
    sums[1] = sum_b;
    sums[2] = sum_c;
    sums[3] = sum_d;
    sums[4] = sum_e;
    sums[5] = sum_f;
    sums[6] = sum_g;
    sums[7] = sum_h;
#endif
}

/* The runs of inputs under the windows of a pixel, or of two, that filters are multiplied with. */
struct usmp_runs_s8_scalar {
    int32_t pixels;
    int32_t count; /* of the runs of a pixel */
    int32_t size;  /* of a run */
    const int8_t *inputs[2][USMP_MOST_TAPS];
    int8_t gathered[2][USMP_MOST_GATHERED];
};

/* Copies a few bytes. */
static void usmp_copy_bytes_s8_scalar(const int8_t *from, int32_t count, int8_t *to)
{
    for (int32_t i = 0; i < count; ++i) {
        to[i] = from[i];
    }
}

/* Gathers what lies under a window: in each row the pixels inside, in one piece if they are, among zeros. */
static void usmp_gather_s8_scalar(
    const struct usmp_conv_2d_s8_parameters *p, const int8_t *const *rows, int32_t start, int8_t *gathered)
{
    const int32_t channels = p->input_channels;
    const int32_t line = p->window_width * channels;
    const int32_t step = p->dilation * p->input_pitch;
    const struct usmp_taps taps = usmp_taps_inside(start, p->dilation, p->window_width, p->input_width);
    const int32_t pieces = step == channels ? 1 : taps.end - taps.first;
    const int32_t size = step == channels ? (taps.end - taps.first) * channels : channels;
    const int32_t first = (start + taps.first * p->dilation) * p->input_pitch;

    for (int32_t y = 0; y < p->window_height; ++y, gathered += line) {
        if (rows[y] == NULL || taps.end - taps.first < p->window_width) {
            memset(gathered, p->input_zero_point, (size_t)line);
        }
        for (int32_t i = 0; rows[y] != NULL && i < pieces; ++i) {
            usmp_copy_bytes_s8_scalar(rows[y] + first + i * step, size, gathered + (taps.first + i) * channels);
        }
    }
}

/* Finds the runs of pixel `x`, and of the one after it: one, if pixels are short; rows under the window, if these lie in
 * one piece; or pixels. */
static void usmp_find_runs_s8_scalar(
    const struct usmp_conv_2d_s8_parameters *p, const int8_t *const *rows, const int8_t *zeros, int32_t x,
    struct usmp_runs_s8_scalar *runs)
{
    const int32_t first = x * p->stride - p->before;
    const int32_t step = p->direction * p->stride;
    const int32_t last = first + (runs->pixels - 1) * step;
    const int32_t taps = p->window_height * p->window_width;
    const int is_short = taps > 1 && p->input_channels < 8 && taps * p->input_channels <= USMP_MOST_GATHERED;
    const int is_dense = p->dilation == 1 && p->input_pitch == p->input_channels;
    const int is_inside = usmp_minimum(first, last) >= 0
                          && usmp_maximum(first, last) + p->window_width <= p->input_width
                          && usmp_are_all_inside_s8(rows, p->window_height);
    const int has_rows = is_dense && is_inside && !is_short;

    runs->count = is_short ? 1 : has_rows ? p->window_height : taps;
    runs->size = taps * p->input_channels / runs->count;
    for (int32_t i = 0; i < runs->pixels; ++i) {
        const int32_t start = first + i * step;

        for (int32_t y = 0; has_rows && y < p->window_height; ++y) {
            runs->inputs[i][y] = rows[y] + start * p->input_pitch;
        }
        if (is_short) {
            usmp_gather_s8_scalar(p, rows, start, runs->gathered[i]);
            runs->inputs[i][0] = runs->gathered[i];
        } else if (!has_rows) {
            usmp_find_taps_s8(
                rows, zeros, p->window_height, p->window_width, start, p->dilation, p->input_width, p->input_pitch, 1,
                runs->inputs[i]);
        }
    }
}

/* One output row from the input rows under the window; a row that is NULL is padding, and so are pixels outside of a
 * row: there the input is `zeros`, a pixel of its zero point.  Weights are in blocks of four filters, those of an input
 * side by side; biases have the zero point folded in; scaling is as scalar.h says.  Two pixels are made at once: the
 * outputs of the second one wait until all of the first are written. */
void usmp_conv_2d_s8_scalar_row(
    const struct usmp_conv_2d_s8_parameters *p, const int8_t *const *rows, const int8_t *weights, const int32_t *bias,
    const int32_t *excess, const int8_t *shifts, const int8_t *zeros, int8_t *output)
{
    const int32_t size = p->window_height * p->window_width * p->input_channels;
    const int has_pairs = USMP_PIXEL_PAIRS && p->output_channels <= USMP_MOST_WAITING;
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk blocks = usmp_walk_along(p->output_channels, 4, p->direction);
    const struct usmp_scaling_s8_scalar scaling = usmp_scaling_of_s8_scalar(p->low, p->high, p->output_zero_point);
    struct usmp_runs_s8_scalar runs;
    int8_t waiting[USMP_MOST_WAITING];

    for (int32_t x = pixels.first; x != pixels.end; x += runs.pixels * pixels.step) {
        runs.pixels = has_pairs && x + pixels.step != pixels.end ? 2 : 1;
        usmp_find_runs_s8_scalar(p, rows, zeros, x, &runs);
        for (int32_t c = blocks.first; c != blocks.end; c += blocks.step) {
            const int8_t *filters = weights + c * size;
            uint32_t sums[8];

            for (int32_t i = 0; i < 4; ++i) {
                sums[i] = (uint32_t)bias[c + i];
                sums[4 + i] = (uint32_t)bias[c + i];
            }
            for (int32_t i = 0; i < runs.count; ++i, filters += 4 * runs.size) {
                if (runs.pixels == 1) {
                    usmp_add_run_s8_scalar(runs.inputs[0][i], filters, runs.size, sums);
                } else {
                    usmp_add_two_runs_s8_scalar(runs.inputs[0][i], runs.inputs[1][i], filters, runs.size, sums);
                }
            }
            usmp_finish_s8_scalar(
                &scaling, sums, excess + c, shifts + c, p->output_channels - c, output + x * p->output_pitch + c,
                runs.pixels == 2 ? waiting + c : NULL);
        }
        if (runs.pixels == 2) {
            memcpy(output + (x + pixels.step) * p->output_pitch, waiting, (size_t)p->output_channels);
        }
    }
}
