/* Reads pictures, and compares with what TensorFlow Lite Micro computes: a test on the host, and the firmware. */
#include <stdio.h>
#include <string.h>

#include "images.h"
#include "reader.h"

int main(void)
{
    const int count = (int)(sizeof images / sizeof images[0]);
    int equal = 0;

    for (int i = 0; i < count; ++i) {
        struct reading reading;

        if (!read_digit(images[i].pixels, &reading)) {
            printf("a model did not run\n");
            return 1;
        }
        equal += memcmp(reading.scores, images[i].digits_scores, sizeof reading.scores) == 0;
        equal += reading.odd == images[i].odd_even_odd;
    }
    printf("%d of %d outputs equal those of TensorFlow Lite Micro\n", equal, 2 * count);
    return equal == 2 * count ? 0 : 1;
}
