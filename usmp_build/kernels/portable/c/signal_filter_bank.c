/* SignalFilterBank: the energy of a spectrum in overlapping triangular channels. */
#include "usmp.h"

struct usmp_signal_filter_bank_parameters {
    int32_t channels;
};

/* Numbers of the spectrum between the middles of two channels belong to both: they rise to the right one by `weights`,
 * and fall from the left one by `unweights`.  Left of the first channel's middle nothing falls. */
void usmp_signal_filter_bank(
    const struct usmp_signal_filter_bank_parameters *p,
    const usmp_u32 *input,
    const usmp_i16 *weights,
    const usmp_i16 *unweights,
    const usmp_i16 *starts,
    const usmp_i16 *weight_starts,
    const usmp_i16 *widths,
    usmp_u64 *output)
{
    uint64_t sum = 0u;

    for (int32_t channel = 0; channel <= p->channels; ++channel) {
        uint64_t next = 0u;
        for (int32_t i = 0; i < widths[channel]; ++i) {
            const uint64_t energy = input[starts[channel] + i];
            sum += (uint64_t)weights[weight_starts[channel] + i] * energy;
            next += (uint64_t)unweights[weight_starts[channel] + i] * energy;
        }
        if (channel > 0) {
            output[channel - 1] = sum;
        }
        sum = next;
    }
}
