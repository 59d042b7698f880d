/* DIV of integers, towards 0. */
#include "arithmetic.h"
#include "pairs.h"
#include "usmp.h"
#include "walk.h"

struct usmp_div_s32_parameters {
    int32_t size;
    int32_t axes[15];
    int32_t low;
    int32_t high;
    int32_t direction; /* 1 forward, -1 backward */
};

/* As processors of Arm divide: by 0 it is 0, and INT32_MIN / -1 wraps. */
static inline int32_t usmp_quotient(int32_t a, int32_t b)
{
    if (b == 0) {
        return 0;
    }
    return b == -1 ? usmp_multiply(a, -1) : a / b;
}

void usmp_div_s32(
    const struct usmp_div_s32_parameters *p, const usmp_i32 *first, const usmp_i32 *second, usmp_i32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);
    struct usmp_pair at = usmp_pair_at(p->axes, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = usmp_clamp(usmp_quotient(first[at.first], second[at.second]), p->low, p->high);
        usmp_next_pair(&at, p->axes, p->direction);
    }
}
