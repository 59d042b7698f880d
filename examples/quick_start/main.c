/* Shows what the camera sees. */
#include <string.h>

#include "board.h"
#include "camera.h"

static void show(const int8_t *pixels)
{
    for (int y = 0; y < CAMERA_SIDE; ++y) {
        char line[CAMERA_SIDE + 2];

        for (int x = 0; x < CAMERA_SIDE; ++x) {
            line[x] = " .:*#"[(pixels[CAMERA_SIDE * y + x] + 128) / 52];
        }
        memcpy(&line[CAMERA_SIDE], "\n", 2);
        print(line);
    }
}

int main(void)
{
    int8_t pixels[CAMERA_PIXELS];

    while (camera_take(pixels)) {
        show(pixels);
    }
    return 0;
}
