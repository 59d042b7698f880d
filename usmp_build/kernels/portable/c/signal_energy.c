/* SignalEnergy: the squares of the magnitudes of a spectrum. */
#include "usmp.h"
#include "walk.h"

/* Numbers outside of begin to end are 0. */
struct usmp_signal_energy_parameters {
    int32_t size;
    int32_t begin;
    int32_t end;
    int32_t direction; /* 1 forward, -1 backward */
};

void usmp_signal_energy(const struct usmp_signal_energy_parameters *p, const usmp_i16 *input, usmp_u32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        const int32_t real = input[2 * i], imaginary = input[2 * i + 1];
        const uint32_t square = (uint32_t)(real * real) + (uint32_t)(imaginary * imaginary);
        output[i] = p->begin <= i && i < p->end ? square : 0u;
    }
}
