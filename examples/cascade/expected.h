/* The answers to three questions about each of two pictures, as TensorFlow Lite Micro computes them.  Made by
 * make_expected.py. */
#ifndef EXPECTED_H
#define EXPECTED_H

#include <stdint.h>

static const int8_t expected[2][3][4] = {
    { { 29, -23, -50, -53 }, { 18, -67, 44, 85 }, { -28, 34, -80, 1 } },
    { { -128, 92, -82, 87 }, { 83, -42, 45, -52 }, { 44, -117, 77, -125 } },
};

#endif
