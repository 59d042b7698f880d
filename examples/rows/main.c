/* Shows the edges of what the sensor sees.  Neither the picture nor that of its edges is ever in memory as a whole. */
#include "board.h"
#include "edges.h"
#include "sensor.h"

/* Print every fourth row, and half of its pixels. */
static void show_row(void *context, int32_t row, const int8_t *data)
{
    char line[EDGES_EDGES_ROW_SIZE / 2 + 2] = { 0 };
    int length = 0;

    (void)context;
    if (row % 4 != 0) {
        return;
    }
    for (int x = 0; x < EDGES_EDGES_ROW_SIZE; x += 2) {
        line[length++] = " .:*#"[(data[x] + 128) / 52];
    }
    while (length > 0 && line[length - 1] == ' ') {
        --length;
    }
    line[length] = '\n';
    line[length + 1] = '\0';
    print(line);
}

_Static_assert(SENSOR_ROW_SIZE == EDGES_PICTURE_ROW_SIZE, "the model reads other rows than the sensor writes");

int main(void)
{
    static struct edges_progress progress;
    const struct edges_sink sink = { show_row, NULL };
    enum usmp_status status = USMP_OK;

    if (edges_begin(&progress, &sink) != USMP_OK) {
        return 1;
    }
    sensor_begin();
    for (int row = 0; row < EDGES_PICTURE_ROWS && status == USMP_OK; ++row) {
        status = edges_push_row(&progress, sensor_wait_for_row());
        sensor_release_row();
    }
    if (status != USMP_OK) {
        return 2;
    }
    return edges_end(&progress) == USMP_OK ? 0 : 3;
}
