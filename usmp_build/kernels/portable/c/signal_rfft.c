/* SignalRfft: the spectrum of real samples: a transform of half as many complex numbers, each of two samples, from
 * which the spectra of even and odd samples are taken apart. */
#include "fft.h"
#include "fixed_complex.h"
#include "usmp.h"

struct usmp_signal_rfft_parameters {
    int32_t frames;
    int32_t samples; /* of a frame, which zeros follow */
    int32_t points;  /* complex numbers that are transformed */
    int32_t stages;
    int32_t radices[16];
};

static inline void usmp_signal_rfft_gather_s16(
    const struct usmp_signal_rfft_parameters *p, const usmp_i16 *samples, usmp_i16 *numbers)
{
    struct usmp_fft_counter counter = usmp_fft_first(p->radices, p->stages);

    for (int32_t i = 0; i < p->points; ++i) {
        const int32_t at = 2 * counter.place;
        numbers[2 * i] = (usmp_i16)(at < p->samples ? samples[at] : 0);
        numbers[2 * i + 1] = (usmp_i16)(at + 1 < p->samples ? samples[at + 1] : 0);
        usmp_fft_next(&counter, p->radices, p->stages);
    }
}

/* Numbers k and n - k of the spectrum, from those of the transform, which are in the same places. */
static inline void usmp_signal_rfft_pair_s16(
    usmp_i16 *numbers, int32_t k, int32_t points, struct usmp_complex_s16 turn)
{
    const struct usmp_complex_s16 one = usmp_shared_s16(usmp_complex_at_s16(numbers, k), 2);
    const struct usmp_complex_s16 mirror = usmp_complex_at_s16(numbers, points - k);
    const struct usmp_complex_s16 other =
        usmp_shared_s16(usmp_complex_of_s16(mirror.real, usmp_difference_s16(0, mirror.imaginary)), 2);
    const struct usmp_complex_s16 even = usmp_plus_s16(one, other);
    const struct usmp_complex_s16 odd = usmp_times_s16(usmp_minus_s16(one, other), turn);

    numbers[2 * k] = usmp_half_sum_s16(even.real, odd.real);
    numbers[2 * k + 1] = usmp_half_sum_s16(even.imaginary, odd.imaginary);
    numbers[2 * (points - k)] = usmp_half_difference_s16(even.real, odd.real);
    numbers[2 * (points - k) + 1] = usmp_half_difference_s16(odd.imaginary, even.imaginary);
}

void usmp_signal_rfft_s16(
    const struct usmp_signal_rfft_parameters *p,
    const usmp_i16 *input,
    const usmp_i16 *twiddles,
    const usmp_i16 *turns,
    usmp_i16 *output)
{
    for (int32_t frame = 0; frame < p->frames; ++frame) {
        usmp_i16 *const numbers = output + frame * 2 * (p->points + 1);

        usmp_signal_rfft_gather_s16(p, input + frame * p->samples, numbers);
        usmp_fft_stages_s16(numbers, p->points, p->radices, p->stages, twiddles, 0);
        const struct usmp_complex_s16 first = usmp_shared_s16(usmp_complex_at_s16(numbers, 0), 2);
        usmp_complex_put_s16(numbers, 0, usmp_complex_of_s16(usmp_sum_s16(first.real, first.imaginary), 0));
        usmp_complex_put_s16(
            numbers, p->points, usmp_complex_of_s16(usmp_difference_s16(first.real, first.imaginary), 0));
        for (int32_t k = 1; k <= p->points / 2; ++k) {
            usmp_signal_rfft_pair_s16(numbers, k, p->points, usmp_complex_at_s16(turns, k - 1));
        }
    }
}
