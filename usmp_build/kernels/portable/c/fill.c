#include "fill.h"

void usmp_fill(const struct usmp_fill_parameters *p, const void *value, void *output)
{
    usmp_repeat((uint8_t *)output, value, p->width, p->count);
}
