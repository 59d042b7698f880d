#ifndef WATCH_H
#define WATCH_H

enum { PICTURES = 2, QUESTIONS = 3 };

/* Look at all pictures and ask all questions about each; listen in between.  Return how many answers are what TensorFlow
 * Lite Micro computes, or -1 if a model did not run. */
int watch(void);

#endif
