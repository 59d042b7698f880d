/* SignalPCAN: per-channel amplitude normalization, a gain that depends on the noise. */
#include "arithmetic.h"
#include "bits.h"
#include "usmp.h"
#include "walk.h"

struct usmp_signal_pcan_parameters {
    int32_t size;
    int32_t shift;
    int32_t direction; /* 1 forward, -1 backward */
};

/* The gain of a noise: a parabola for each power of 2, of which the table has the value, the slope and the curvature;
 * the fourth number is not used.  For 0, 1 and 2 it has the gain itself. */
static inline int32_t usmp_signal_gain(uint32_t noise, const usmp_i16 *table)
{
    if (noise <= 2u) {
        return table[noise];
    }
    const int32_t bits = usmp_bits(noise);
    const usmp_i16 *const at = table + 4 * bits - 6;
    const int32_t fraction = (int32_t)((bits < 11 ? noise << (11 - bits) : noise >> (bits - 11)) & 0x3FFu);
    const int32_t slope = usmp_add((at[2] * fraction) >> 5, (int32_t)((uint32_t)at[1] << 5));
    const int32_t change = usmp_add((int32_t)((uint32_t)slope * (uint32_t)fraction), 1 << 14) >> 15;

    return usmp_low_16(usmp_add(change, at[0]));
}

/* x^2 / 4 below 2, else x - 1; x has 12 bits after the point, the result 6. */
static inline uint32_t usmp_signal_shrunk(uint32_t x)
{
    return x < 2u << 12 ? (x * x) >> 20 : (x >> 6) - (1u << 6);
}

void usmp_signal_pcan(
    const struct usmp_signal_pcan_parameters *p,
    const usmp_u32 *input,
    const usmp_u32 *noise,
    const usmp_i16 *gains,
    usmp_u32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        const uint32_t gain = (uint32_t)usmp_signal_gain(noise[i], gains);
        output[i] = usmp_signal_shrunk((uint32_t)(((uint64_t)input[i] * gain) >> p->shift));
    }
}
