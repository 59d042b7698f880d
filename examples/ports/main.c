/* Runs a model with two inputs and four outputs, all of which live in the pool. */
#include <stdio.h>
#include <string.h>

#include "expected.h"
#include "mix.h"
#include "mixer.h"

static const int count = (int)(sizeof expected / sizeof expected[0]);

/* Return how many of the four outputs are what TensorFlow Lite Micro computes. */
static int exact(const struct expected *wanted)
{
    const struct mix_outputs outputs = mix_map_outputs();

    return (memcmp(outputs.centred, wanted->centred, sizeof wanted->centred) == 0) +
           (memcmp(outputs.wide, wanted->wide, sizeof wanted->wide) == 0) +
           (memcmp(outputs.mixed, wanted->mixed, sizeof wanted->mixed) == 0) +
           (memcmp(outputs.both, wanted->both, sizeof wanted->both) == 0);
}

int main(void)
{
    const struct mix_inputs inputs = mix_map_inputs();
    int first = 0;
    int again = 0;

    for (int i = 0; i < count; ++i) {
        memcpy(inputs.left, expected[i].left, sizeof expected[i].left);
        memcpy(inputs.right, expected[i].right, sizeof expected[i].right);
        if (mix_run() != USMP_OK) {
            return 1;
        }
        first += exact(&expected[i]);

        /* Both inputs are still there: nobody fills them. */
        if (mix_run() != USMP_OK) {
            return 1;
        }
        again += exact(&expected[i]);
    }
    printf("two inputs and four outputs in %d bytes of one pool\n", MIXER_SRAM_SIZE);
    printf("%d of %d outputs equal those of TensorFlow Lite Micro\n", first, 4 * count);
    printf("%d of %d when run again, with the inputs as the first run left them\n", again, 4 * count);
    return first == 4 * count && again == 4 * count ? 0 : 1;
}
