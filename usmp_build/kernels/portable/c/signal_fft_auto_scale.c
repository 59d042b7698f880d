/* SignalFftAutoScale: a signal shifted to the left as far as its largest sample allows. */
#include "bits.h"
#include "usmp.h"
#include "walk.h"

struct usmp_signal_fft_auto_scale_parameters {
    int32_t size;
    int32_t direction; /* 1 forward, -1 backward */
};

/* The largest magnitude, in 16 bits as in TensorFlow Lite Micro: that of -32768 is -32768, and any later sample is
 * above it. */
static inline int32_t usmp_signal_loudest(const usmp_i16 *input, int32_t size)
{
    int32_t loudest = 0;

    for (int32_t i = 0; i < size; ++i) {
        const int32_t sample = input[i];
        if (sample > loudest) {
            loudest = sample;
        } else if (-sample > loudest) {
            loudest = usmp_low_16(-sample);
        }
    }
    return loudest;
}

void usmp_signal_fft_auto_scale(
    const struct usmp_signal_fft_auto_scale_parameters *p, const usmp_i16 *input, usmp_i16 *output, usmp_i32 *shift)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    const int32_t loudest = usmp_signal_loudest(input, p->size);
    const int32_t bits = loudest > 0 ? 15 - usmp_bits((uint32_t)loudest) : 0;

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = usmp_low_16(input[i] * (1 << bits));
    }
    *shift = bits;
}
