/* BATCH_MATMUL: products of matrices, either of which may be stored by columns, or with its axes in another order. */
#include "arithmetic.h"
#include "batch_matmul.h"
#include "usmp.h"
#include "walk.h"

/* Rows of the output, along four axes, each of `columns` sums of `depth` products.  In elements: left_steps are from
 * the row of the left side to that for the next row of the output, right_steps so from one matrix of the right side to
 * the next; left_depth is from one factor of a sum to the next, right_depth so on the right side, and right_column
 * there from one column to the next.  Low and high are the limits of the output less its zero point. */
struct usmp_batch_matmul_s8_parameters {
    int32_t rows[4];
    int32_t left_steps[4];
    int32_t right_steps[4];
    int32_t depth;
    int32_t columns;
    int32_t left_depth;
    int32_t right_depth;
    int32_t right_column;
#if USMP_S8
    int32_t left_zero_point;
    int32_t right_zero_point;
    int32_t multiplier;
    int32_t shift;
    int32_t output_zero_point;
    int32_t low;
    int32_t high;
#elif USMP_S16
    int32_t multiplier;
    int32_t shift;
    int32_t low;
    int32_t high;
#endif
    int32_t direction; /* 1 forward, -1 backward */
};

/* Adds to `lanes` sums the products of a row of the left matrix with columns of the right one. */
static inline void usmp_add_row_times_columns_s8(
    const struct usmp_batch_matmul_s8_parameters *p, const int8_t *left, const int8_t *right,
    int32_t lanes, usmp_sum *sums)
{
    for (int32_t k = 0; k < p->depth; ++k) {
        const int8_t *const here = right + k * p->right_depth;
#if USMP_S8
        const int32_t value = left[k * p->left_depth] - p->left_zero_point;
#else
        const usmp_number value = left[k * p->left_depth];
#endif

        for (int32_t i = 0; i < lanes; ++i) {
#if USMP_S8
            sums[i] += value * (here[i * p->right_column] - p->right_zero_point);
#else
            sums[i] += value * here[i * p->right_column];
#endif
        }
    }
}

void usmp_batch_matmul_s8(
    const struct usmp_batch_matmul_s8_parameters *p, const int8_t *left, const int8_t *right,
    int8_t *output)
{
    const int32_t count = p->rows[0] * p->rows[1] * p->rows[2] * p->rows[3];
    const struct usmp_walk rows = usmp_walk_along(count, 1, p->direction);
    const struct usmp_walk blocks = usmp_walk_along(p->columns, 4, p->direction);

    for (int32_t row = rows.first; row != rows.end; row += rows.step) {
        const int8_t *const values = left + usmp_place_of(row, p->rows, p->left_steps);
        const int8_t *const matrix = right + usmp_place_of(row, p->rows, p->right_steps);

        for (int32_t c = blocks.first; c != blocks.end; c += blocks.step) {
            int8_t *const results = output + row * p->columns + c;
            const int32_t lanes = p->columns - c < 4 ? p->columns - c : 4;
            usmp_sum sums[4] = {0, 0, 0, 0};

            usmp_add_row_times_columns_s8(p, values, matrix + c * p->right_column, lanes, sums);
            for (int32_t i = 0; i < lanes; ++i) {
#if USMP_S8
                const int32_t scaled = usmp_scale(sums[i], p->multiplier, p->shift);
                results[i] = (int8_t)(usmp_clamp(scaled, p->low, p->high) + p->output_zero_point);
#elif USMP_S16
                const int32_t scaled = usmp_scale_wide(sums[i], p->multiplier, p->shift);
                results[i] = (int8_t)usmp_clamp(scaled, p->low, p->high);
#else
                results[i] = sums[i];
#endif
            }
        }
    }
}
