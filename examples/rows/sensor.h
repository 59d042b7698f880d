/* sensor.h - an image sensor that has no memory: it delivers a picture row by row */
#ifndef SENSOR_H
#define SENSOR_H

#include <stddef.h>
#include <stdint.h>

/* Begin a picture. */
void sensor_begin(void);

/* Write the next row where the application wants it, as DMA would. */
void sensor_read_row(int8_t *row, size_t pixels);

#endif
