/* SignalFramer: frames that overlap, one for each step of samples. */
#include "usmp.h"

/* The state begins with the number of steps so far, up to those before the first complete frame; then it has what each
 * signal remembers. */
struct usmp_signal_framer_parameters {
    int32_t signals;
    int32_t frames; /* of a signal, in a run: one for each step */
    int32_t step;
    int32_t size;   /* of a frame */
    int32_t before; /* samples that are remembered */
    int32_t first;  /* steps before the first complete frame */
};

/* Makes a frame of what is remembered and of the samples of a step; of zeros where it would not be complete. */
static inline void usmp_signal_frame(
    const struct usmp_signal_framer_parameters *p, const usmp_i16 *remembered, const usmp_i16 *step,
    int32_t is_complete, usmp_i16 *frame)
{
    for (int32_t i = 0; i < p->size; ++i) {
        const int32_t sample = i < p->before ? remembered[i] : step[i - p->before];
        frame[i] = (int16_t)(is_complete ? sample : 0);
    }
}

/* Moves what is remembered on by a step. */
static inline void usmp_signal_remember(
    const struct usmp_signal_framer_parameters *p, usmp_i16 *remembered, const usmp_i16 *step)
{
    for (int32_t i = 0; i < p->before; ++i) {
        const int32_t next = i + p->step;
        remembered[i] = next < p->before ? remembered[next] : step[next - p->before];
    }
}

/* `valid` becomes 1 if the frames are complete. */
void usmp_signal_framer(
    const struct usmp_signal_framer_parameters *p, const usmp_i16 *input, usmp_i16 *state, usmp_i16 *output,
    uint8_t *valid)
{
    const int32_t steps = state[0];

    for (int32_t signal = 0; signal < p->signals; ++signal) {
        usmp_i16 *const remembered = state + 1 + signal * p->before;

        for (int32_t frame = 0; frame < p->frames; ++frame) {
            const int32_t number = signal * p->frames + frame;
            const usmp_i16 *const step = input + number * p->step;

            usmp_signal_frame(p, remembered, step, steps + frame >= p->first, output + number * p->size);
            usmp_signal_remember(p, remembered, step);
        }
    }
    *valid = steps >= p->first;
    state[0] = (int16_t)(p->first - steps > p->frames ? steps + p->frames : p->first);
}
