/* Looks at pictures with a cascade of two models, while a third one listens. */
#include <stdio.h>

#include "watch.h"

int main(void)
{
    const int exact = watch();

    if (exact < 0) {
        printf("a model did not run\n");
        return 1;
    }
    printf("%d questions about each of %d pictures: %d of %d answers equal those of TensorFlow Lite Micro\n",
           QUESTIONS, PICTURES, exact, PICTURES * QUESTIONS);
    return exact == PICTURES * QUESTIONS ? 0 : 1;
}
