#include <string.h>

#include "copy.h"

void usmp_copy(const struct usmp_copy_parameters *p, const void *input, void *output)
{
    const uint8_t *from = (const uint8_t *)input;
    uint8_t *to = (uint8_t *)output + p->offset;

    for (int32_t i = 0; i < p->count; ++i) {
        memmove(to, from, (size_t)p->size);
        from += p->size;
        to += p->pitch;
    }
}
