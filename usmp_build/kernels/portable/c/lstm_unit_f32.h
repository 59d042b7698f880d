/* What the gates of an LSTM do to a unit, in real numbers. */
#ifndef USMP_LSTM_UNIT_F32_H
#define USMP_LSTM_UNIT_F32_H

#include <math.h>

#include "arithmetic.h"
#include "logistic_f32.h"
#include "usmp.h"

/* Moves a unit's cell state on by what its gates add up to; returns its output. */
static inline float usmp_lstm_unit_f32(float clip, const float *gates, usmp_f32 *cell)
{
    const float kept = usmp_logistic_of(gates[1]) * *cell;
    const float fresh = usmp_logistic_of(gates[0]) * tanhf(gates[2]);
    const float state = usmp_clamp_f32(kept + fresh, -clip, clip);

    *cell = state;
    return tanhf(state) * usmp_logistic_of(gates[3]);
}

#endif
