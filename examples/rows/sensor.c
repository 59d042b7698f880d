/* Stands in for a sensor: the clock of the processor interrupts for each row.  It sees a ball and a box, and some noise. */
#include "sensor.h"

#define SYST_CSR (*(volatile uint32_t *)0xE000E010)
#define SYST_RVR (*(volatile uint32_t *)0xE000E014)
#define SYST_CVR (*(volatile uint32_t *)0xE000E018)

enum { ENABLE = 1, INTERRUPT = 2, PROCESSOR_CLOCK = 4, CYCLES_PER_ROW = 25000 };

static int8_t rows[2][SENSOR_ROW_SIZE];
static volatile uint32_t filled; /* rows so far: only the interrupt counts them */
static volatile uint32_t released;
static uint32_t noise;
void tick(void);

static int8_t pixel(int x, int y)
{
    const int from_ball = (x - 18) * (x - 18) + (y - 22) * (y - 22);
    const int is_in_box = x >= 36 && x < 58 && y >= 14 && y < 40;

    noise = noise * 1664525u + 1013904223u;
    return (int8_t)((from_ball < 14 * 14 ? 90 : is_in_box ? 60 : -80) + (int)(noise >> 28));
}

/* The interrupt.  A row for which neither array is free comes with the next one; a real sensor would lose it. */
void tick(void)
{
    if (filled - released < 2) {
        for (int x = 0; x < SENSOR_ROW_SIZE; ++x) {
            rows[filled % 2][x] = pixel(x, (int)filled);
        }
        ++filled;
    }
}

void sensor_begin(void)
{
    filled = 0;
    released = 0;
    noise = 1;
    SYST_RVR = CYCLES_PER_ROW - 1;
    SYST_CVR = 0;
    SYST_CSR = ENABLE | INTERRUPT | PROCESSOR_CLOCK;
}

const int8_t *sensor_wait_for_row(void)
{
    while (filled == released) {
        __asm__ volatile("wfi");
    }
    return rows[released % 2];
}

void sensor_release_row(void)
{
    ++released;
}
