/* SignalFilterBankSpectralSubtraction: a signal less its noise, which is estimated by smoothing it. */
#include "usmp.h"

/* Numbers that are multiplied with have `bits` bits after the point.  The estimate has `smoothing_bits` more bits than
 * the signal. */
struct usmp_signal_subtraction_parameters {
    int32_t channels;
    int32_t smoothing[2]; /* of channels with an even number, and of the others */
    int32_t kept[2];
    int32_t least; /* what at least remains of the signal */
    int32_t smoothing_bits;
    int32_t bits;
    int32_t clamping;
};

void usmp_signal_subtraction(
    const struct usmp_signal_subtraction_parameters *p,
    const usmp_u32 *input,
    usmp_u32 *estimate,
    usmp_u32 *output,
    usmp_u32 *noise)
{
    for (int32_t i = 0; i < p->channels; ++i) {
        const uint64_t smoothing = (uint32_t)p->smoothing[i & 1], kept = (uint32_t)p->kept[i & 1];
        const uint32_t signal = input[i], scaled = signal << p->smoothing_bits;
        const uint32_t smoothed = (uint32_t)((scaled * smoothing + estimate[i] * kept) >> p->bits);
        const uint32_t subtracted = smoothed > scaled ? scaled : smoothed;
        const uint32_t floor = (uint32_t)(((uint64_t)signal * (uint64_t)p->least) >> p->bits);
        const uint32_t rest = (scaled - subtracted) >> p->smoothing_bits;
        const uint32_t next = p->clamping ? subtracted : smoothed;

        estimate[i] = next;
        output[i] = rest > floor ? rest : floor;
        noise[i] = next;
    }
}
