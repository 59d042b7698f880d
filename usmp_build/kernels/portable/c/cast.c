/* CAST of integers: those that the new type does not hold keep their low bits. */
#include "unary.h"
#include "usmp.h"
#include "walk.h"

void usmp_cast_bool_u32(const struct usmp_elements *p, const uint8_t *input, usmp_u32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (usmp_u32)(input[i] != 0);
    }
}

void usmp_cast_s8_u32(const struct usmp_elements *p, const int8_t *input, usmp_u32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (usmp_u32)input[i];
    }
}

void usmp_cast_s16_u32(const struct usmp_elements *p, const usmp_i16 *input, usmp_u32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (usmp_u32)input[i];
    }
}

void usmp_cast_s32_u32(const struct usmp_elements *p, const usmp_i32 *input, usmp_u32 *output)
{
    const struct usmp_walk walk = usmp_walk_along(p->size, 1, p->direction);

    for (int32_t i = walk.first; i != walk.end; i += walk.step) {
        output[i] = (usmp_u32)input[i];
    }
}
