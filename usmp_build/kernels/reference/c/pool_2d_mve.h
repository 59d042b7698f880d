/* AVERAGE_POOL_2D and MAX_POOL_2D of int8 with Helium. */
#ifndef USMP_POOL_2D_MVE_H
#define USMP_POOL_2D_MVE_H

#include "pool_2d.h"

/* One output row from the input rows under a window of at most 256 pixels; a row that is NULL is padding. */
void usmp_average_pool_2d_s8_mve_row(
    const struct usmp_pool_2d_s8_parameters *p, const int8_t *const *rows, int8_t *output);

/* One output row from the input rows under the window; a row that is NULL is padding. */
void usmp_max_pool_2d_s8_mve_row(
    const struct usmp_pool_2d_s8_parameters *p, const int8_t *const *rows, int8_t *output);

#endif
