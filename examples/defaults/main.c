/* Reads handwritten digits with a model of which nothing was said but its name. */
#include <stdio.h>
#include <string.h>

#include "digits.h"
#include "images.h"
#include "plain.h"

int main(void)
{
    const int count = (int)(sizeof images / sizeof images[0]);
    int exact = 0;

    for (int i = 0; i < count; ++i) {
        memcpy(digits_map_inputs().image, images[i].pixels, DIGITS_IMAGE_SIZE);
        if (digits_run() != USMP_OK) {
            return 1;
        }
        exact += memcmp(digits_map_outputs().scores, images[i].digits_scores, DIGITS_SCORES_SIZE) == 0;
    }
    printf("%d bytes of workspace, %d bytes of constants\n", PLAIN_WORKSPACE_SIZE, PLAIN_CONSTANTS_SIZE);
    printf("%d of %d outputs equal those of TensorFlow Lite Micro\n", exact, count);
    return exact == count ? 0 : 1;
}
