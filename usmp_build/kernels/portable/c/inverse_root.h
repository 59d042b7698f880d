/* 1 / sqrt(x) in fixed point, as TensorFlow Lite Micro defines it. */
#ifndef USMP_INVERSE_ROOT_H
#define USMP_INVERSE_ROOT_H

#include "arithmetic.h"
#include "exponential.h"

/* A factor as in usmp_scale. */
struct usmp_factor {
    int32_t multiplier;
    int32_t shift;
};

/* 1 / sqrt(x) for an integer x >= 0; of 0 as of 1.  Newton's steps in Q3.28, for x * 4^n of 27 or 28 bits. */
static inline struct usmp_factor usmp_inverse_root(int32_t x)
{
    const int32_t three_halves = (1 << 28) + (1 << 27);
    const int32_t root_of_half = 1518500250;
    struct usmp_factor result = {INT32_MAX, 0};
    int32_t root = 1 << 28;
    int32_t half;

    if (x <= 1) {
        return result;
    }
    result.shift = -11;
    for (; x >= 1 << 29; x /= 4) {
        --result.shift;
    }
    for (; x < 1 << 27; x *= 4) {
        ++result.shift;
    }
    half = usmp_shift_right(x >> 1, 1);
    for (int32_t step = 0; step < 5; ++step) {
        const int32_t cube = usmp_shift_left(usmp_multiply_high(usmp_multiply_high(root, root), root), 6);
        root = usmp_shift_left(usmp_multiply_high(three_halves, root) - usmp_multiply_high(half, cube), 3);
    }
    result.multiplier = usmp_multiply_high(root, root_of_half);
    for (; result.shift > 0; --result.shift) {
        result.multiplier *= 2;
    }
    return result;
}

#endif
