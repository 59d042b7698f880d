/* PAD and PADV2: a frame of one value around a tensor; elements of any type. */
#ifndef USMP_PAD_H
#define USMP_PAD_H

#include "usmp.h"

/* `lines` are the output's runs along the innermost axis; `width` is the bytes of an element. */
struct usmp_pad_parameters {
    int32_t lines;
    int32_t width;
    int32_t direction; /* 1 forward, -1 backward */
};

#endif
