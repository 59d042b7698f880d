/* PAD and PADV2: a frame of one value around a tensor; one function for each width of elements. */
#ifndef USMP_PAD_H
#define USMP_PAD_H

#include "usmp.h"

/* `lines` are the output's runs along the innermost axis; `value` has the bits of the frame. */
struct usmp_pad {
    int32_t lines;
    int32_t value;
};

/* `axes` has three numbers for each of five axes, the innermost last: padding before, size of the input, padding
 * behind. */
void usmp_pad_8(const struct usmp_pad *p, const void *input, const int32_t *axes, void *output);

/* The same for elements of 16 bits. */
void usmp_pad_16(const struct usmp_pad *p, const void *input, const int32_t *axes, void *output);

/* The same for elements of 32 bits. */
void usmp_pad_32(const struct usmp_pad *p, const void *input, const int32_t *axes, void *output);

#endif
