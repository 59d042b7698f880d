/* FILL and ZEROS_LIKE: one element many times; elements of any type. */
#ifndef USMP_FILL_H
#define USMP_FILL_H

#include <string.h>

#include "move_mve.h"
#include "usmp.h"

/* `width` is the bytes of an element. */
struct usmp_fill_parameters {
    int32_t count;
    int32_t width;
    int32_t direction; /* of no account: it goes forward in both */
};

/* Writes `value` `count` times. */
static inline void usmp_repeat(uint8_t *to, const void *value, int32_t width, int32_t count)
{
    if (width == 1) {
        usmp_repeat_byte(to, *(const uint8_t *)value, count);
        return;
    }
    for (int32_t i = 0; i < count; ++i) {
        memcpy(to + i * width, value, (size_t)width);
    }
}

#endif
