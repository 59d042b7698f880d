/* CIRCULAR_BUFFER: the last inputs of a stream, from the oldest to the newest. */
#include <string.h>

#include "usmp.h"

/* In bytes. */
struct usmp_circular_buffer_parameters {
    int32_t size; /* of a slot */
    int32_t kept; /* all slots but one */
};

struct usmp_circular_buffer_valid_parameters {
    int32_t period; /* in runs */
};

/* The oldest slot goes. */
void usmp_circular_buffer(const struct usmp_circular_buffer_parameters *p, const int8_t *input, int8_t *slots)
{
    memmove(slots, slots + p->size, (size_t)p->kept);
    memcpy(slots + p->kept, input, (size_t)p->size);
}

/* `runs` counts the runs of the period so far: the last one is valid. */
void usmp_circular_buffer_valid(
    const struct usmp_circular_buffer_valid_parameters *p, usmp_i32 *runs, uint8_t *valid)
{
    const int32_t count = *runs + 1;

    *valid = count == p->period;
    *runs = *valid ? 0 : count;
}
