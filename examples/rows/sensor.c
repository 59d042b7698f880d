/* Stands in for a sensor: it sees a ball and a box, and some noise. */
#include "sensor.h"

static int y;
static uint32_t noise;

void sensor_begin(void)
{
    y = 0;
    noise = 1;
}

void sensor_read_row(int8_t *row, size_t pixels)
{
    for (int x = 0; x < (int)pixels; ++x) {
        const int from_ball = (x - 18) * (x - 18) + (y - 22) * (y - 22);
        const int is_in_box = x >= 36 && x < 58 && y >= 14 && y < 40;

        noise = noise * 1664525u + 1013904223u;
        row[x] = (int8_t)((from_ball < 14 * 14 ? 90 : is_in_box ? 60 : -80) + (int)(noise >> 28));
    }
    ++y;
}
