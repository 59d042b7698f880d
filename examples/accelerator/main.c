/* Reads the digits of a meter: convolutions on the accelerator, the rest here. */
#include <stdio.h>
#include <string.h>

#include "digits.h"
#include "images.h"
#include "npu.h"

int main(void)
{
    const int count = (int)(sizeof images / sizeof images[0]);
    struct npu_counts counts;
    int exact = 0;

    for (int i = 0; i < count; ++i) {
        memcpy(digits_map_inputs().image, images[i].pixels, sizeof images[i].pixels);
        if (digits_run() != USMP_OK) {
            printf("the model did not run\n");
            return 1;
        }
        exact += memcmp(digits_map_outputs().scores, images[i].digits_scores, sizeof images[i].digits_scores) == 0;
    }
    counts = npu_take_counts();
    printf("the accelerator ran %d layers for each picture, and %d copies went to or from its memory\n",
           counts.layers / count, counts.copies / count);
    printf("%d of %d outputs equal those of TensorFlow Lite Micro\n", exact, count);
    return exact == count && counts.layers == 4 * count && counts.copies == 4 * count ? 0 : 1;
}
