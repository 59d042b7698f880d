/* SignalStacker: a frame with those before and after it, side by side. */
#include "usmp.h"

/* The state begins with the number of frames in it, and one more; 0: there was no frame yet. */
struct usmp_signal_stacker_parameters {
    int32_t channels; /* numbers of a frame */
    int32_t left;     /* frames before the frame */
    int32_t before;   /* frames in the state, when it is full: all but the last of a stack */
    int32_t step;     /* frames from one stack to the next */
};

static inline void usmp_signal_copy(const usmp_i16 *from, usmp_i16 *to, int32_t count)
{
    for (int32_t i = 0; i < count; ++i) {
        to[i] = from[i];
    }
}

/* Before the first frame, it is there `left` times. */
static inline int32_t usmp_signal_stacked(
    const struct usmp_signal_stacker_parameters *p, const usmp_i16 *input, usmp_i16 *state)
{
    if (state[0] > 0) {
        return state[0] - 1;
    }
    for (int32_t frame = 0; frame < p->left; ++frame) {
        usmp_signal_copy(input, state + 1 + frame * p->channels, p->channels);
    }
    return p->left;
}

void usmp_signal_stacker(
    const struct usmp_signal_stacker_parameters *p,
    const usmp_i16 *input,
    usmp_i16 *state,
    usmp_i16 *output,
    uint8_t *valid)
{
    const int32_t frames = usmp_signal_stacked(p, input, state), size = p->before * p->channels;
    usmp_i16 *const stack = state + 1;

    *valid = frames == p->before;
    if (*valid) {
        usmp_signal_copy(stack, output, size);
        usmp_signal_copy(input, output + size, p->channels);
        usmp_signal_copy(output + p->step * p->channels, stack, (p->before + 1 - p->step) * p->channels);
        state[0] = (int16_t)(p->before + 2 - p->step);
        return;
    }
    for (int32_t i = 0; i < size + p->channels; ++i) {
        output[i] = 0;
    }
    usmp_signal_copy(input, stack + frames * p->channels, p->channels);
    state[0] = (int16_t)(frames + 2);
}
