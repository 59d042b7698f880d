/* Runs a model whose weights are a file: those that were built in, or an update. */
#include <stdio.h>
#include <string.h>

#include "gauge.h"
#include "meter.h"

/* What the device is sold with, in a section of its own. */
USMP_SECTION(METER_WEIGHTS_SECTION) USMP_ALIGNED(METER_WEIGHTS_ALIGNMENT)
static const uint8_t factory[METER_WEIGHTS_SIZE] = {
#include "meter_weights.inc"
};

/* On a device, another page of flash, which an updater writes. */
USMP_ALIGNED(METER_WEIGHTS_ALIGNMENT) static uint8_t update[METER_WEIGHTS_SIZE];

static size_t receive(const char *path)
{
    FILE *const file = fopen(path, "rb");
    size_t count = 0;

    if (file != NULL) {
        count = fread(update, 1, sizeof update, file);
        fclose(file);
    }
    return count;
}

static enum usmp_status measure(const struct gauge_constant_pools *constants)
{
    static const int8_t sensors[4] = { 10, 20, 30, 40 };

    memcpy(gauge_map_inputs().sensors, sensors, sizeof sensors);
    const enum usmp_status status = gauge_run(constants);
    if (status == USMP_OK) {
        printf("levels %d and %d\n", gauge_map_outputs().levels[0], gauge_map_outputs().levels[1]);
    }
    return status;
}

int main(int argc, char **argv)
{
    struct gauge_constant_pools constants = { factory };

    if (meter_check_weights(factory) != USMP_OK) {
        printf("the weights that were built in are damaged\n");
        return 1;
    }
    if (argc > 1) {
        if (receive(argv[1]) == sizeof update && meter_check_weights(update) == USMP_OK) {
            printf("updated: ");
            constants.weights = update;
        } else {
            printf("the update is damaged, or for another program: ");
        }
    }
    return measure(&constants) == USMP_OK ? 0 : 1;
}
