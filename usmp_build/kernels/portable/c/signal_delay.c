/* SignalDelay: each signal later by some samples, which are remembered. */
#include "usmp.h"

struct usmp_signal_delay_parameters {
    int32_t signals;
    int32_t samples; /* of a signal, in a run */
    int32_t delay;
};

/* Sample i of what is remembered and then what comes. */
static inline int16_t usmp_signal_later(const usmp_i16 *before, int32_t count, const usmp_i16 *now, int32_t i)
{
    return i < count ? before[i] : now[i - count];
}

void usmp_signal_delay(
    const struct usmp_signal_delay_parameters *p, const usmp_i16 *input, usmp_i16 *state, usmp_i16 *output)
{
    for (int32_t signal = 0; signal < p->signals; ++signal) {
        const usmp_i16 *const now = input + signal * p->samples;
        usmp_i16 *const before = state + signal * p->delay;

        for (int32_t i = 0; i < p->samples; ++i) {
            output[signal * p->samples + i] = usmp_signal_later(before, p->delay, now, i);
        }
        for (int32_t i = 0; i < p->delay; ++i) {
            before[i] = usmp_signal_later(before, p->delay, now, i + p->samples);
        }
    }
}
