/* SignalWindow: every frame of a signal times the weights of a window, in fixed point. */
#include "arithmetic.h"
#include "usmp.h"
#include "walk.h"

struct usmp_signal_window_parameters {
    int32_t size;
    int32_t window; /* samples of a frame: each has a weight */
    int32_t shift;
    int32_t direction; /* 1 forward, -1 backward */
};

void usmp_signal_window(
    const struct usmp_signal_window_parameters *p, const usmp_i16 *input, const usmp_i16 *weights, usmp_i16 *output)
{
    const struct usmp_walk frames = usmp_walk_along(p->size, p->window, p->direction);
    const struct usmp_walk samples = usmp_walk_along(p->window, 1, p->direction);

    for (int32_t at = frames.first; at != frames.end; at += frames.step) {
        for (int32_t i = samples.first; i != samples.end; i += samples.step) {
            const int32_t product = (int32_t)input[at + i] * weights[i] >> p->shift;
            output[at + i] = (int16_t)usmp_clamp(product, INT16_MIN, INT16_MAX);
        }
    }
}
