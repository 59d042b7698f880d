/* Pixels that are made of the bytes under a window with Arm's DSP extension: their runs, and padding that is left out. */
#ifndef USMP_PIXELS_DSP_H
#define USMP_PIXELS_DSP_H

#include "conv_2d_dsp.h"
#include "dsp.h"
#include "usmp.h"
#include "window.h"

/* Pixels, and the blocks of four outputs to make of each.  The assembly loads members in pairs, and
 * the first four at once. */
struct usmp_pixels_s8_dsp {
    const int8_t *input;       /* the first run of bytes of the first pixel */
    int32_t loops;             /* over four words of a run, or one for wide sums; all but its last word */
    uintptr_t entry;           /* for the function alone */
    int32_t zero_points;       /* the input's zero point below 0, twice; 0 if it is folded into the sums */
    uintptr_t run_entry;       /* for the function alone */
    const int32_t *packed;     /* the first block */
    uintptr_t end;             /* where the block after the last one begins */
    int32_t back;              /* bytes from the end of a block to the beginning of the next one */
    int8_t *output;            /* of the first block of the first pixel */
    int32_t step;              /* from the outputs of a block to those of the next one */
    int32_t rounding;          /* 1 + 2 * the output's zero point */
    int32_t flags;             /* 1 if the limits of outputs are not those of int8, 2 if the last block is short */
    int32_t low;               /* four times */
    int32_t high;              /* four times */
    int32_t pixels;            /* if more than one, each has but one run */
    int32_t input_step;        /* from a pixel to the next one */
    int32_t output_step;       /* from where the block after the last one would go to the next pixel */
    int32_t other_runs;        /* the number of further runs, all equally long */
    int32_t runs_left;         /* for the function alone; 0 */
    const int8_t *const *runs; /* the further runs, the last one first; NULL ends them before `last_gap` */
    int32_t skip;              /* bytes of code that the first loop leaves out */
    int32_t rest;              /* bytes from where the last word of a run would begin to where it does: -3 to 0 */
    int32_t is_wide;           /* whether weights are in `packed` as if for wide sums */
    int32_t is_special;        /* whether sums are divided, or there are gaps */
    int32_t is_divided;        /* not 0 if each run has sums of its own */
    int32_t totals[2];         /* divided sums of a and c, of the runs before this one */
    int32_t short_outputs;     /* of the last block, which has fewer than four */
    uintptr_t short_end;       /* where it ends; 0 if there is none */
    uintptr_t word_entry;      /* for the function alone */
    int32_t first_gap;         /* bytes of weights before those of the first run, for padding */
    int32_t gap;               /* between two runs */
    int32_t last_gap;          /* after the last run */
    int32_t words;             /* of a run */
    int32_t block;             /* words of a block */
};

/* Says how long all runs are: at least four bytes. */
static inline void usmp_set_runs_s8_dsp(struct usmp_pixels_s8_dsp *dot, int32_t other_runs, int32_t bytes)
{
    const int32_t whole = (int32_t)((uint32_t)(bytes - 1) / 4); /* words but the last one */

    dot->other_runs = other_runs;
    dot->words = whole + 1;
    dot->loops = dot->is_wide ? whole : (int32_t)((uint32_t)(whole + 3) / 4);
    dot->skip = whole == 0 ? 64 * 4 + 8 : 64 * (4 * dot->loops - whole);
    dot->rest = bytes - 4 - 4 * whole;
}

static inline void usmp_set_gaps_s8_dsp(struct usmp_pixels_s8_dsp *dot, int32_t before, int32_t between, int32_t after)
{
    dot->is_special = dot->is_divided | (before + between + after);
    dot->first_gap = before;
    dot->gap = between;
    dot->last_gap = after;
}

static inline void usmp_set_outputs_s8_dsp(
    struct usmp_pixels_s8_dsp *dot, const struct usmp_conv_2d_s8_dsp_parameters *p, int32_t block)
{
    dot->block = block;
    dot->zero_points = 0;
    dot->rounding = p->rounding;
    dot->low = usmp_four_times_dsp(p->low);
    dot->high = usmp_four_times_dsp(p->high);
    dot->flags = p->is_clamped;
    dot->runs_left = 0;
    dot->is_wide = p->is_wide;
    dot->is_divided = p->is_divided;
    dot->totals[0] = 0;
    dot->totals[1] = 0;
    usmp_set_gaps_s8_dsp(dot, 0, 0, 0);
}

/* Says that the input's zero point is not folded into the sums to begin with. */
static inline void usmp_set_zero_point_s8_dsp(
    struct usmp_pixels_s8_dsp *dot, const struct usmp_conv_2d_s8_dsp_parameters *p)
{
    dot->zero_points = (int32_t)((uint32_t)(-p->input_zero_point & 0xffff) * 0x10001u);
}

/* Makes a run of each row of the window, of the pixels inside of the image: those outside add nothing.  `whole` are the
 * rows inside, and the first pixel under the window is at `start`.  Returns 0 where all of it is outside, and where each
 * pixel has sums of its own. */
static int usmp_join_rows_s8_dsp(
    struct usmp_pixels_s8_dsp *dot, const struct usmp_conv_2d_s8_dsp_parameters *p, const int8_t *const *rows,
    struct usmp_taps inside, int32_t start, const int8_t **runs)
{
    const int32_t width = p->window_width;
    const struct usmp_taps columns = usmp_taps_inside(start, 1, width, p->input_width);
    const int32_t joined = columns.end - columns.first;
    const int32_t missing = p->window_height * width - (inside.end - inside.first) * joined;
    const int32_t weights = 4 * p->input_channels; /* bytes of a pixel's, in a block */
    const int8_t **next = runs;

    if (joined <= 0 || inside.end <= inside.first || p->is_divided > 1) {
        usmp_set_gaps_s8_dsp(dot, 0, 0, 0);
        return 0;
    }
    usmp_set_gaps_s8_dsp(
        dot, weights * (inside.first * width + columns.first), weights * (width - joined),
        weights * ((p->window_height - inside.end) * width + width - columns.end));
    if (missing != 0) {
        *next++ = NULL;
    }
    for (int32_t y = inside.end - 1; y >= inside.first; --y) {
        *next++ = rows[y] + (start + columns.first) * p->input_channels;
    }
    usmp_set_runs_s8_dsp(dot, (int32_t)(next - runs) - 1, joined * p->input_channels);
    return 1;
}

#endif
