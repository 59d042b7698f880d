/* SignalFilterBankSquareRoot: square roots of integers, rounded, then shifted to the right. */
#include "usmp.h"
#include "walk.h"

struct usmp_signal_square_root_parameters {
    int32_t size;
    int32_t direction; /* 1 forward, -1 backward */
};

/* Bit by bit from the highest.  A root that has no bits left for it, as all of `most` are set, is not rounded up; of
 * numbers below 2^32 a root has 16 bits. */
static inline uint32_t usmp_signal_root(uint64_t number)
{
    const uint64_t most = number >> 32 != 0u ? 0xFFFFFFFFu : 0xFFFFu;
    uint64_t root = 0u;

    for (uint64_t bit = number >> 32 != 0u ? (uint64_t)1 << 62 : (uint64_t)1 << 30; bit != 0u; bit >>= 2) {
        if (number >= root + bit) {
            number -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return (uint32_t)(number > root && root != most ? root + 1u : root);
}

void usmp_signal_square_root(
    const struct usmp_signal_square_root_parameters *p, const usmp_u64 *input, const usmp_i32 *shift, usmp_u32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    const uint32_t bits = (uint32_t)*shift & 31u;

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = usmp_signal_root(input[i]) >> bits;
    }
}
