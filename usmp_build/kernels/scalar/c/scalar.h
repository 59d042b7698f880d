/* Sums of products for processors that multiply one number at a time: what is read serves several sums, which stay in
 * registers. */
#ifndef USMP_SCALAR_H
#define USMP_SCALAR_H

#include "arithmetic.h"
#include "dsp.h"
#include "usmp.h"

/* Compilers like to read ahead, and run out of registers.  Here they keep to the order of the source: two sums are
 * complete before anything else is read. */
#if defined(__GNUC__)
#define USMP_COMPLETE(FIRST, SECOND) __asm__ volatile("" : "+r"(FIRST), "+r"(SECOND) : : "memory")
#else
#define USMP_COMPLETE(FIRST, SECOND) ((void)(FIRST), (void)(SECOND))
#endif

/* Whether sums of two pixels are assembly: Thumb has just enough registers for them, and compilers do not manage. */
#if defined(__thumb2__) && defined(__GNUC__) && !defined(__ARM_BIG_ENDIAN)
#define USMP_THUMB 1
#else
#define USMP_THUMB 0
#endif

/* Whether two pixels are made at once: not with the few registers of the first Thumb instructions. */
#if defined(__thumb__) && !USMP_THUMB
#define USMP_PIXEL_PAIRS 0
#else
#define USMP_PIXEL_PAIRS 1
#endif

/* A function whose body is assembly there. */
#if USMP_THUMB
#define USMP_THUMB_ASSEMBLY __attribute__((naked, noinline, used))
#else
#define USMP_THUMB_ASSEMBLY USMP_OUT_OF_LINE
#endif

/* A function whose loops have all registers. */
#if defined(__GNUC__)
#define USMP_OUT_OF_LINE __attribute__((noinline))
#else
#define USMP_OUT_OF_LINE
#endif

/* A function that is part of others even where the compiler is told to save bytes. */
#if defined(__GNUC__)
#define USMP_IN_PLACE inline __attribute__((always_inline))
#else
#define USMP_IN_PLACE inline
#endif

/* Adds a product to each of two sums, modulo 2^32. */
#define USMP_TWO_PRODUCTS(FIRST, X, V, SECOND, Y, W) \
    do { \
        FIRST += (uint32_t)((X) * (V)); \
        SECOND += (uint32_t)((Y) * (W)); \
        USMP_COMPLETE(FIRST, SECOND); \
    } while (0)

/* Adds the products of input I with a weight of each filter. */
#define USMP_FOUR_PRODUCTS(I) \
    do { \
        const int8_t *const w = weights + 4 * (I); \
        const int32_t x = inputs[I]; \
        USMP_TWO_PRODUCTS(sum_a, x, w[0], sum_b, x, w[1]); \
        USMP_TWO_PRODUCTS(sum_c, x, w[2], sum_d, x, w[3]); \
    } while (0)

/* Adds the products of `count` inputs with four filters, whose weights of an input lie side by side. */
static USMP_OUT_OF_LINE void usmp_add_run_s8_scalar(
    const int8_t *inputs, const int8_t *weights, int32_t count, uint32_t *sums)
{
    const int32_t whole = count - count % 4;
    uint32_t sum_a = sums[0], sum_b = sums[1], sum_c = sums[2], sum_d = sums[3];

    for (int32_t i = 0; i < whole; i += 4) {
        USMP_FOUR_PRODUCTS(i);
        USMP_FOUR_PRODUCTS(i + 1);
        USMP_FOUR_PRODUCTS(i + 2);
        USMP_FOUR_PRODUCTS(i + 3);
    }
    for (int32_t i = whole; i < count; ++i) {
        USMP_FOUR_PRODUCTS(i);
    }
    sums[0] = sum_a;
    sums[1] = sum_b;
    sums[2] = sum_c;
    sums[3] = sum_d;
}

/* The most output channels of a pixel that wait until those of the one before it are written. */
#define USMP_MOST_WAITING 256

/* The most runs of inputs under a window, which has pointers to them. */
#define USMP_MOST_TAPS 32

/* The most bytes under a window that are gathered in one run, where pixels are short: less than eight channels. */
#define USMP_MOST_GATHERED 160

/* How sums become outputs: `rounding` is 1 + 2 * the zero point of outputs, low and high are their limits. */
struct usmp_scaling_s8_scalar {
    int32_t rounding;
    int32_t low;
    int32_t high;
};

static inline struct usmp_scaling_s8_scalar usmp_scaling_of_s8_scalar(int32_t low, int32_t high, int32_t zero_point)
{
    struct usmp_scaling_s8_scalar scaling = {1 + 2 * zero_point, low + zero_point, high + zero_point};
    return scaling;
}

/* a * b / 2^32, rounded to the nearest, halves upwards.  The first Thumb instructions have no product of 64 bits: there
 * it is put together from products of 16-bit halves, the upper ones signed; no partial sum overflows 32 bits. */
static USMP_IN_PLACE int32_t usmp_multiply_high_scalar(int32_t a, int32_t b)
{
#if USMP_PIXEL_PAIRS
    const int64_t product = (int64_t)a * b;
    return (int32_t)(product >> 32) + (int32_t)((uint32_t)product >> 31);
#else
    const int32_t a_low = a & 0xffff;
    const int32_t b_low = b & 0xffff;
    const int32_t lowest = (int32_t)((uint32_t)a_low * (uint32_t)b_low >> 16);
    const int32_t first = (a >> 16) * b_low + lowest;
    const int32_t second = a_low * (b >> 16) + (first & 0xffff);
    return (a >> 16) * (b >> 16) + (first >> 16) + (second >> 16) + (second >> 15 & 1);
#endif
}

/* The output of a sum that is scaled by less than 1/2. */
static USMP_IN_PLACE int8_t usmp_output_s8_scalar(
    uint32_t sum, int32_t excess, int32_t less, int32_t rounding, int32_t low, int32_t high)
{
    const int32_t scaled = (int32_t)sum + usmp_multiply_high_scalar((int32_t)sum, excess);
    const int32_t output = (((scaled + (scaled >> 31)) >> less) + rounding) >> 1;
    return (int8_t)(output < low ? low : output > high ? high : output);
}

/* Makes the outputs of filter I, of one pixel or two. */
#define USMP_FINISH(I) \
    if (lanes > (I)) { \
        const int32_t factor = excess[I]; \
        const int32_t less = shifts[I]; \
        output[I] = usmp_output_s8_scalar(sums[I], factor, less, rounding, low, high); \
        if (other != NULL) { \
            other[I] = usmp_output_s8_scalar(sums[4 + (I)], factor, less, rounding, low, high); \
        } \
    }

/* Makes the outputs of a block of four sums, or as many as there are, by factors and shifts as usmp_output_s8_dsp has
 * them; and, if it is there, of those of another pixel behind them. */
static USMP_OUT_OF_LINE void usmp_finish_s8_scalar(
    const struct usmp_scaling_s8_scalar *scaling, const uint32_t *sums, const int32_t *excess, const int8_t *shifts,
    int32_t lanes, int8_t *output, int8_t *other)
{
    const int32_t rounding = scaling->rounding;
    const int32_t low = scaling->low;
    const int32_t high = scaling->high;

    if (shifts[0] >= 0) {
        USMP_FINISH(0)
        USMP_FINISH(1)
        USMP_FINISH(2)
        USMP_FINISH(3)
        return;
    }
    for (int32_t i = 0; i < usmp_minimum(4, lanes); ++i) {
        const int32_t factor = excess[i];
        const int32_t byte = shifts[i];
        const int32_t result = usmp_scaled_steep_s8_dsp((int32_t)sums[i], factor, byte, rounding);

        output[i] = (int8_t)usmp_clamp(result, low, high);
        if (other != NULL) {
            const int32_t next = usmp_scaled_steep_s8_dsp((int32_t)sums[4 + i], factor, byte, rounding);
            other[i] = (int8_t)usmp_clamp(next, low, high);
        }
    }
}

#endif
