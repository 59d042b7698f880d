#include <stdlib.h>
#include "p.h"

void *q_allocate(size_t size, size_t alignment) { return alignment <= 8 ? malloc(size) : NULL; }
void q_release(void *memory) { free(memory); }

void p_widen(const void *x, usmp_i16 *y)
{
    const uint8_t *const bytes = (const uint8_t *)x;

    for (int round = 0; round < 4; ++round) {
        usmp_i16 *part = p_widen_map_buffers().part + round % 2 * P_WIDEN_PART_STRIDE / 2;

        for (int i = 0; i < 4; ++i) {
            part[i] = bytes[4 * round + i];
        }
        p_twice(part);
        for (int i = 0; i < 4; ++i) {
            y[4 * round + i] = part[i];
        }
    }
}

void p_twice(void *x)
{
    usmp_i16 *const values = (usmp_i16 *)x;
    const struct p_twice_buffers buffers = p_twice_map_buffers();
    usmp_i16 *const copy = buffers.copy + P_TWICE_COPY_STRIDE / 2;

    for (int i = 0; i < 4; ++i) {
        copy[i] = values[i];
        values[i] = (int16_t)(2 * copy[i]);
    }
}

void p_add(void *to, const uint8_t *weights, const float *nothing)
{
    for (int i = 0; i < 16 && nothing == NULL; ++i) {
        ((usmp_i16 *)to)[i] = (int16_t)(((usmp_i16 *)to)[i] + weights[i % 4]);
    }
}

void p_sum(const usmp_i16 *x, void *y)
{
    int32_t *const lazy = (int32_t *)q_allocate(4 * sizeof *lazy, sizeof *lazy);

    for (int i = 0; i < 4; ++i) {
        lazy[i] = *p_sum_map_buffers().start + x[i] + x[4 + i] + x[8 + i] + x[12 + i];
    }
    for (int i = 0; i < 4; ++i) { /* from here on y may lie where x was */
        ((usmp_i32 *)y)[i] = lazy[i];
    }
    q_release(lazy);
}
