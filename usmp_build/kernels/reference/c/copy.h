/* Bytes that move as they are: CONCATENATION, RESHAPE and the like; elements of any type. */
#ifndef USMP_COPY_H
#define USMP_COPY_H

#include "usmp.h"

/* `count` blocks of `size` bytes, which lie side by side in the input; in the output the first one begins at `offset`
 * and each of the others `pitch` bytes after the one before. */
struct usmp_copy_parameters {
    int32_t count;
    int32_t size;
    int32_t pitch;
    int32_t offset;
};

/* Input and output may overlap when there is one block. */
void usmp_copy(const struct usmp_copy_parameters *p, const void *input, void *output);

#endif
