#include <stdio.h>
#include <string.h>
#include "digits.h"
#include "p.h"

USMP_ALIGNED(P_WEIGHTS_ALIGNMENT) static uint8_t weights[P_WEIGHTS_SIZE];

int main(int argc, char **argv)
{
    const struct digits_constant_pools constants = { weights };
    FILE *const file = fopen(argv[argc - 1], "rb");
    const size_t count = fread(weights, 1, sizeof weights, file);

    fclose(file);
    printf("%d %d %d\n", count == sizeof weights, (int)p_check_weights(weights), (int)digits_run(&constants));
    for (int run = 0; run < 10; ++run) {
        for (int i = 0; i < DIGITS_IMAGE_SIZE; ++i) {
            digits_map_inputs().image[i] = (int8_t)(i * 37 + run * 91);
        }
        if (digits_run(&constants) == USMP_OK) {
            fwrite(digits_map_outputs().scores, 1, DIGITS_SCORES_SIZE, stdout);
        }
    }
    return 0;
}
