#include "board.h"
#include "digits.h"
int main(void)
{
    int8_t wanted = 0;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < DIGITS_IMAGE_SIZE; ++j) { digits_map_inputs().image[j] = (int8_t)(j % 251 - 128); }
        if (digits_run() != USMP_OK) { return 1; }
        const int8_t *scores = digits_map_outputs().scores;
        int8_t sum = 0;
        for (int j = 0; j < DIGITS_SCORES_SIZE; ++j) { sum = (int8_t)(7 * sum + scores[j]); }
        if (i && sum != wanted) { return 2; }
        wanted = sum;
    }
    print("right\n");
    return 0;
}
