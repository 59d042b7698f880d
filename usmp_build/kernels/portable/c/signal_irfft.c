/* SignalIrfft: real samples from their spectrum, which is made the one of half as many complex numbers, each of two
 * samples. */
#include "fft.h"
#include "fixed_complex.h"
#include "usmp.h"

struct usmp_signal_irfft_parameters {
    int32_t frames;
    int32_t points; /* complex numbers that are transformed */
    int32_t stages;
    int32_t radices[16];
};

/* Number k of what is transformed: of each pair, the sum or, in the upper half and the middle, the difference. */
static inline struct usmp_complex_s16 usmp_signal_irfft_number_s16(
    const usmp_i16 *spectrum, int32_t k, int32_t points, const usmp_i16 *turns)
{
    const int32_t low = 2 * k < points ? k : points - k;
    const struct usmp_complex_s16 one = usmp_shared_s16(usmp_complex_at_s16(spectrum, low), 2);
    const struct usmp_complex_s16 mirror = usmp_complex_at_s16(spectrum, points - low);
    const struct usmp_complex_s16 other =
        usmp_shared_s16(usmp_complex_of_s16(mirror.real, usmp_difference_s16(0, mirror.imaginary)), 2);
    const struct usmp_complex_s16 even = usmp_plus_s16(one, other);
    const struct usmp_complex_s16 odd =
        usmp_times_s16(usmp_minus_s16(one, other), usmp_complex_at_s16(turns, low - 1));

    if (2 * k < points) {
        return usmp_plus_s16(even, odd);
    }
    const struct usmp_complex_s16 apart = usmp_minus_s16(even, odd);
    return usmp_complex_of_s16(apart.real, usmp_difference_s16(0, apart.imaginary));
}

/* Of numbers 0 and n only the real parts count. */
static inline struct usmp_complex_s16 usmp_signal_irfft_first_s16(const usmp_i16 *spectrum, int32_t points)
{
    const usmp_i16 low = spectrum[0], high = spectrum[2 * points];

    return usmp_shared_s16(usmp_complex_of_s16(usmp_sum_s16(low, high), usmp_difference_s16(low, high)), 2);
}

void usmp_signal_irfft_s16(
    const struct usmp_signal_irfft_parameters *p,
    const usmp_i16 *input,
    const usmp_i16 *twiddles,
    const usmp_i16 *turns,
    usmp_i16 *output)
{
    for (int32_t frame = 0; frame < p->frames; ++frame) {
        const usmp_i16 *const spectrum = input + frame * 2 * (p->points + 1);
        usmp_i16 *const numbers = output + frame * 2 * p->points;
        struct usmp_fft_counter counter = usmp_fft_first(p->radices, p->stages);

        for (int32_t i = 0; i < p->points; ++i) {
            const int32_t k = counter.place;
            const struct usmp_complex_s16 number = k > 0 ? usmp_signal_irfft_number_s16(spectrum, k, p->points, turns)
                                                         : usmp_signal_irfft_first_s16(spectrum, p->points);
            usmp_complex_put_s16(numbers, i, number);
            usmp_fft_next(&counter, p->radices, p->stages);
        }
        usmp_fft_stages_s16(numbers, p->points, p->radices, p->stages, twiddles, 1);
        usmp_rest_s16(numbers, 2 * p->points);
    }
}
