/* start.h - from reset to main() */
#ifndef START_H
#define START_H

/* Prepare memory, protect it, run main(), and exit with what it returns.  Needs a stack, and no other data. */
_Noreturn void start(void);

int main(void);

#endif
