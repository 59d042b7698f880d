/* Functions of single elements. */
#ifndef USMP_UNARY_H
#define USMP_UNARY_H

#include "usmp.h"

struct usmp_elements {
    int32_t size;
    int32_t direction; /* 1 forward, -1 backward */
};

#endif
