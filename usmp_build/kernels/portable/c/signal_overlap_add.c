/* SignalOverlapAdd: the sum of frames that overlap, one step of it for each frame. */
#include "signal_added.h"
#include "usmp.h"

struct usmp_signal_overlap_add_parameters {
    int32_t signals;
    int32_t frames; /* of a signal, in a run */
    int32_t size;   /* of a frame */
    int32_t step;
};

static inline void usmp_signal_add_frame_s16(
    const struct usmp_signal_overlap_add_parameters *p, const usmp_i16 *frame, usmp_i16 *sums, usmp_i16 *output)
{
    const int32_t before = p->size - p->step;

    for (int32_t i = 0; i < p->size; ++i) {
        const usmp_i16 sum = usmp_signal_added_s16(frame[i], (usmp_i16)(i < before ? sums[i] : 0));
        if (i < p->step) {
            output[i] = sum;
        } else {
            sums[i - p->step] = sum;
        }
    }
}

void usmp_signal_overlap_add_s16(
    const struct usmp_signal_overlap_add_parameters *p, const usmp_i16 *input, usmp_i16 *state, usmp_i16 *output)
{
    for (int32_t signal = 0; signal < p->signals; ++signal) {
        for (int32_t frame = 0; frame < p->frames; ++frame) {
            const int32_t number = signal * p->frames + frame;
            usmp_signal_add_frame_s16(
                p, input + number * p->size, state + signal * (p->size - p->step), output + number * p->step);
        }
    }
}
