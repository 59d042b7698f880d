/* board.h - start-up, and text for the debugger or the emulator */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

void print(const char *text);

/* Print numbers in one line. */
void print_numbers(const int8_t *numbers, int count);

int main(void);

#endif
