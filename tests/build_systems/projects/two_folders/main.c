/* Reads one picture, writes what both models say of it. */
#include <stdio.h>
#include <string.h>

#include "digits.h"
#include "odd_even.h"

int main(void)
{
    int8_t picture[DIGITS_IMAGE_SIZE];

    if (fread(picture, sizeof picture, 1, stdin) != 1) {
        return 1;
    }
    memcpy(digits_map_inputs().image, picture, sizeof picture);
    if (digits_run() != USMP_OK) {
        return 1;
    }
    fwrite(digits_map_outputs().scores, DIGITS_SCORES_SIZE, 1, stdout);
    memcpy(odd_even_map_inputs().image, picture, sizeof picture);
    if (odd_even_run() != USMP_OK) {
        return 1;
    }
    fwrite(odd_even_map_outputs().odd, ODD_EVEN_ODD_SIZE, 1, stdout);
    return 0;
}
