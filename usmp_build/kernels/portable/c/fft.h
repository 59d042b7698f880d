/* The fast Fourier transform of complex numbers, by radices 2 to 5: first all numbers in the order of their digits in
 * reverse, then a stage for each radix, the last one first, each with the roundings of kiss_fft, whose integers depend
 * on their order.  Twiddles are the n-th roots of 1. */
#ifndef USMP_FFT_H
#define USMP_FFT_H

#include "fixed_complex.h"
#include "usmp.h"

/* A number whose digits, one for each stage, count up from the last one; `place` has the same digits in reverse. */
struct usmp_fft_counter {
    int32_t place;
    int32_t digits[16];
    int32_t steps[16];
};

struct usmp_complex_s16 {
    usmp_i16 real;
    usmp_i16 imaginary;
};

static inline struct usmp_fft_counter usmp_fft_first(const int32_t *radices, int32_t stages)
{
    struct usmp_fft_counter counter;
    int32_t step = 1;

    counter.place = 0;
    for (int32_t i = 0; i < stages; ++i) {
        counter.digits[i] = 0;
        counter.steps[i] = step;
        step *= radices[i];
    }
    return counter;
}

static inline void usmp_fft_next(struct usmp_fft_counter *counter, const int32_t *radices, int32_t stages)
{
    for (int32_t i = stages - 1; i >= 0; --i) {
        counter->place += counter->steps[i];
        if (++counter->digits[i] < radices[i]) {
            return;
        }
        counter->place -= counter->digits[i] * counter->steps[i];
        counter->digits[i] = 0;
    }
}

static inline struct usmp_complex_s16 usmp_complex_of_s16(usmp_i16 real, usmp_i16 imaginary)
{
    struct usmp_complex_s16 number;

    number.real = real;
    number.imaginary = imaginary;
    return number;
}

static inline struct usmp_complex_s16 usmp_complex_at_s16(const usmp_i16 *numbers, int32_t index)
{
    return usmp_complex_of_s16(numbers[2 * index], numbers[2 * index + 1]);
}

static inline void usmp_complex_put_s16(usmp_i16 *numbers, int32_t index, struct usmp_complex_s16 number)
{
    numbers[2 * index] = number.real;
    numbers[2 * index + 1] = number.imaginary;
}

static inline struct usmp_complex_s16 usmp_plus_s16(struct usmp_complex_s16 a, struct usmp_complex_s16 b)
{
    return usmp_complex_of_s16(usmp_sum_s16(a.real, b.real), usmp_sum_s16(a.imaginary, b.imaginary));
}

static inline struct usmp_complex_s16 usmp_minus_s16(struct usmp_complex_s16 a, struct usmp_complex_s16 b)
{
    return usmp_complex_of_s16(usmp_difference_s16(a.real, b.real), usmp_difference_s16(a.imaginary, b.imaginary));
}

/* a + i * b. */
static inline struct usmp_complex_s16 usmp_plus_turned_s16(struct usmp_complex_s16 a, struct usmp_complex_s16 b)
{
    return usmp_complex_of_s16(usmp_difference_s16(a.real, b.imaginary), usmp_sum_s16(a.imaginary, b.real));
}

/* a - i * b. */
static inline struct usmp_complex_s16 usmp_minus_turned_s16(struct usmp_complex_s16 a, struct usmp_complex_s16 b)
{
    return usmp_complex_of_s16(usmp_sum_s16(a.real, b.imaginary), usmp_difference_s16(a.imaginary, b.real));
}

static inline struct usmp_complex_s16 usmp_times_s16(struct usmp_complex_s16 a, struct usmp_complex_s16 b)
{
    return usmp_complex_of_s16(
        usmp_products_less_s16(a.real, b.real, a.imaginary, b.imaginary),
        usmp_products_s16(a.real, b.imaginary, a.imaginary, b.real));
}

static inline struct usmp_complex_s16 usmp_scaled_s16(struct usmp_complex_s16 a, usmp_i16 factor)
{
    return usmp_complex_of_s16(usmp_product_s16(a.real, factor), usmp_product_s16(a.imaginary, factor));
}

static inline struct usmp_complex_s16 usmp_shared_s16(struct usmp_complex_s16 a, int32_t parts)
{
    return usmp_complex_of_s16(usmp_share_s16(a.real, parts), usmp_share_s16(a.imaginary, parts));
}

/* An input of a butterfly: its share, times its twiddle. */
static inline struct usmp_complex_s16 usmp_turned_s16(
    const usmp_i16 *numbers, int32_t index, int32_t parts, const usmp_i16 *twiddles, int32_t twiddle)
{
    const struct usmp_complex_s16 share = usmp_shared_s16(usmp_complex_at_s16(numbers, index), parts);

    return usmp_times_s16(share, usmp_complex_at_s16(twiddles, twiddle));
}

static inline void usmp_fft_by_2_s16(usmp_i16 *numbers, int32_t m, int32_t step, const usmp_i16 *twiddles)
{
    for (int32_t k = 0; k < m; ++k) {
        const struct usmp_complex_s16 a = usmp_shared_s16(usmp_complex_at_s16(numbers, k), 2);
        const struct usmp_complex_s16 b = usmp_turned_s16(numbers, k + m, 2, twiddles, k * step);

        usmp_complex_put_s16(numbers, k, usmp_plus_s16(a, b));
        usmp_complex_put_s16(numbers, k + m, usmp_minus_s16(a, b));
    }
}

static inline void usmp_fft_by_3_s16(usmp_i16 *numbers, int32_t m, int32_t step, const usmp_i16 *twiddles)
{
    const struct usmp_complex_s16 third = usmp_complex_at_s16(twiddles, m * step);

    for (int32_t k = 0; k < m; ++k) {
        const struct usmp_complex_s16 a = usmp_shared_s16(usmp_complex_at_s16(numbers, k), 3);
        const struct usmp_complex_s16 b = usmp_turned_s16(numbers, k + m, 3, twiddles, k * step);
        const struct usmp_complex_s16 c = usmp_turned_s16(numbers, k + 2 * m, 3, twiddles, 2 * k * step);
        const struct usmp_complex_s16 sum = usmp_plus_s16(b, c);
        const struct usmp_complex_s16 side = usmp_scaled_s16(usmp_minus_s16(b, c), third.imaginary);
        const struct usmp_complex_s16 middle =
            usmp_minus_s16(a, usmp_complex_of_s16(usmp_half_s16(sum.real), usmp_half_s16(sum.imaginary)));

        usmp_complex_put_s16(numbers, k, usmp_plus_s16(a, sum));
        usmp_complex_put_s16(numbers, k + m, usmp_plus_turned_s16(middle, side));
        usmp_complex_put_s16(numbers, k + 2 * m, usmp_minus_turned_s16(middle, side));
    }
}

static inline void usmp_fft_by_4_s16(
    usmp_i16 *numbers, int32_t m, int32_t step, const usmp_i16 *twiddles, int32_t inverse)
{
    for (int32_t k = 0; k < m; ++k) {
        const struct usmp_complex_s16 a = usmp_shared_s16(usmp_complex_at_s16(numbers, k), 4);
        const struct usmp_complex_s16 b = usmp_turned_s16(numbers, k + m, 4, twiddles, k * step);
        const struct usmp_complex_s16 c = usmp_turned_s16(numbers, k + 2 * m, 4, twiddles, 2 * k * step);
        const struct usmp_complex_s16 d = usmp_turned_s16(numbers, k + 3 * m, 4, twiddles, 3 * k * step);
        const struct usmp_complex_s16 even = usmp_plus_s16(a, c), odd = usmp_plus_s16(b, d);
        const struct usmp_complex_s16 apart = usmp_minus_s16(a, c), side = usmp_minus_s16(b, d);

        usmp_complex_put_s16(numbers, k, usmp_plus_s16(even, odd));
        usmp_complex_put_s16(numbers, k + 2 * m, usmp_minus_s16(even, odd));
        usmp_complex_put_s16(numbers, k + (inverse ? 3 : 1) * m, usmp_minus_turned_s16(apart, side));
        usmp_complex_put_s16(numbers, k + (inverse ? 1 : 3) * m, usmp_plus_turned_s16(apart, side));
    }
}

/* a + p * x + q * y, for real x and y. */
static inline struct usmp_complex_s16 usmp_along_s16(
    struct usmp_complex_s16 a, struct usmp_complex_s16 p, usmp_i16 x, struct usmp_complex_s16 q, usmp_i16 y)
{
    return usmp_plus_s16(usmp_plus_s16(a, usmp_scaled_s16(p, x)), usmp_scaled_s16(q, y));
}

static inline void usmp_fft_by_5_s16(usmp_i16 *numbers, int32_t m, int32_t step, const usmp_i16 *twiddles)
{
    const struct usmp_complex_s16 fifth = usmp_complex_at_s16(twiddles, m * step);
    const struct usmp_complex_s16 second = usmp_complex_at_s16(twiddles, 2 * m * step);

    for (int32_t k = 0; k < m; ++k) {
        const struct usmp_complex_s16 a = usmp_shared_s16(usmp_complex_at_s16(numbers, k), 5);
        const struct usmp_complex_s16 b = usmp_turned_s16(numbers, k + m, 5, twiddles, k * step);
        const struct usmp_complex_s16 c = usmp_turned_s16(numbers, k + 2 * m, 5, twiddles, 2 * k * step);
        const struct usmp_complex_s16 d = usmp_turned_s16(numbers, k + 3 * m, 5, twiddles, 3 * k * step);
        const struct usmp_complex_s16 e = usmp_turned_s16(numbers, k + 4 * m, 5, twiddles, 4 * k * step);
        const struct usmp_complex_s16 outer = usmp_plus_s16(b, e), inner = usmp_plus_s16(c, d);
        const struct usmp_complex_s16 far = usmp_minus_s16(b, e), near = usmp_minus_s16(c, d);
        const struct usmp_complex_s16 first = usmp_along_s16(a, outer, fifth.real, inner, second.real);
        const struct usmp_complex_s16 last = usmp_along_s16(a, outer, second.real, inner, fifth.real);
        const struct usmp_complex_s16 one =
            usmp_plus_s16(usmp_scaled_s16(far, fifth.imaginary), usmp_scaled_s16(near, second.imaginary));
        const struct usmp_complex_s16 two =
            usmp_minus_s16(usmp_scaled_s16(near, fifth.imaginary), usmp_scaled_s16(far, second.imaginary));

        usmp_complex_put_s16(numbers, k, usmp_plus_s16(a, usmp_plus_s16(outer, inner)));
        usmp_complex_put_s16(numbers, k + m, usmp_plus_turned_s16(first, one));
        usmp_complex_put_s16(numbers, k + 4 * m, usmp_minus_turned_s16(first, one));
        usmp_complex_put_s16(numbers, k + 2 * m, usmp_minus_turned_s16(last, two));
        usmp_complex_put_s16(numbers, k + 3 * m, usmp_plus_turned_s16(last, two));
    }
}

static inline void usmp_fft_butterflies_s16(
    usmp_i16 *numbers, int32_t radix, int32_t m, int32_t step, const usmp_i16 *twiddles, int32_t inverse)
{
    switch (radix) {
    case 2:
        usmp_fft_by_2_s16(numbers, m, step, twiddles);
        break;
    case 3:
        usmp_fft_by_3_s16(numbers, m, step, twiddles);
        break;
    case 4:
        usmp_fft_by_4_s16(numbers, m, step, twiddles, inverse);
        break;
    default:
        usmp_fft_by_5_s16(numbers, m, step, twiddles);
        break;
    }
}

/* All stages, of `points` numbers that are in order for them. */
static inline void usmp_fft_stages_s16(
    usmp_i16 *numbers,
    int32_t points,
    const int32_t *radices,
    int32_t stages,
    const usmp_i16 *twiddles,
    int32_t inverse)
{
    int32_t m = 1;

    for (int32_t stage = stages - 1; stage >= 0; --stage) {
        const int32_t size = radices[stage] * m;
        for (int32_t first = 0; first < points; first += size) {
            usmp_fft_butterflies_s16(numbers + 2 * first, radices[stage], m, points / size, twiddles, inverse);
        }
        m = size;
    }
}

#endif
