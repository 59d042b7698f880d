#include "reader.h"

#include <string.h>

#include "digits.h"
#include "odd_even.h"

bool read_digit(const int8_t pixels[READER_PIXELS], struct reading *reading)
{
    memcpy(digits_map_inputs().image, pixels, DIGITS_IMAGE_SIZE);
    if (digits_run() != USMP_OK) {
        return false;
    }
    memcpy(reading->scores, digits_map_outputs().scores, DIGITS_SCORES_SIZE);

    /* From here on the scores of the model are gone: odd_even uses the same bytes. */
    memcpy(odd_even_map_inputs().image, pixels, ODD_EVEN_IMAGE_SIZE);
    if (odd_even_run() != USMP_OK) {
        return false;
    }
    reading->odd = odd_even_map_outputs().odd[0];
    return true;
}
