/* SignalFilterBankLog: natural logarithms in fixed point. */
#include "bits.h"
#include "usmp.h"
#include "walk.h"

struct usmp_signal_log_parameters {
    int32_t size;
    int32_t correction; /* bits that the input is shifted to the left */
    int32_t scale;
    int32_t direction; /* 1 forward, -1 backward */
};

/* The logarithm to base 2 times 2^16: for 2^n * (1 + f), n + f and what is between two entries of the table, which
 * holds log2(1 + f) - f for multiples of 2^-7. */
static inline uint32_t usmp_signal_log2(uint32_t number, const usmp_u16 *table)
{
    const int32_t whole = usmp_bits(number) - 1;
    const uint32_t rest = number - ((uint32_t)1 << whole);
    const int32_t fraction = (int32_t)(whole < 16 ? rest << (16 - whole) : rest >> (whole - 16));
    const int32_t segment = fraction >> 9;
    const int32_t first = table[segment], second = table[segment + 1];
    const int32_t between = (second - first) * (fraction - (segment << 9)) >> 16;

    return ((uint32_t)whole << 16) + (uint32_t)(fraction + first + between);
}

void usmp_signal_log(
    const struct usmp_signal_log_parameters *p, const usmp_u32 *input, const usmp_u16 *table, usmp_i16 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    const uint32_t ln_2 = 45426u; /* times 2^16 */

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        const uint32_t number = input[i] << p->correction;
        uint32_t scaled = 0u;
        if (number > 1u) {
            const uint32_t natural = (uint32_t)(((uint64_t)ln_2 * usmp_signal_log2(number, table) + 0x8000u) >> 16);
            scaled = ((uint32_t)p->scale * natural + 0x8000u) >> 16;
        }
        output[i] = (int16_t)(scaled < INT16_MAX ? scaled : INT16_MAX);
    }
}
