/* Reads a handwritten digit with two models that share their memory. */
#ifndef READER_H
#define READER_H

#include <stdbool.h>
#include <stdint.h>

enum { READER_PIXELS = 64, READER_DIGITS = 10 };

struct reading {
    int8_t scores[READER_DIGITS];
    int8_t odd; /* from -128, even, to 127, odd */
};

bool read_digit(const int8_t pixels[READER_PIXELS], struct reading *reading);

#endif
