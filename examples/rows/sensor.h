/* sensor.h - an image sensor without memory: each of its interrupts delivers a row, into one of two arrays */
#ifndef SENSOR_H
#define SENSOR_H

#include <stdint.h>

enum { SENSOR_ROW_SIZE = 64 };

/* Begin a picture. */
void sensor_begin(void);

/* Wait for the next row.  It stays until `sensor_release_row`, while the sensor fills the other array. */
const int8_t *sensor_wait_for_row(void);
void sensor_release_row(void);

#endif
