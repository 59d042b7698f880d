/* camera.h - pictures of 8 x 8 pixels, from -128 (black) to 127 (white) */
#ifndef CAMERA_H
#define CAMERA_H

#include <stdbool.h>
#include <stdint.h>

enum { CAMERA_SIDE = 8, CAMERA_PIXELS = CAMERA_SIDE * CAMERA_SIDE };

/* Take the next picture; return false if there is none. */
bool camera_take(int8_t *pixels);

#endif
