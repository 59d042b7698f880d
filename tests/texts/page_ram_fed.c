#include <stdio.h>
#include "vww.h"

static int lines;

static void read_line(int8_t *to, size_t size)
{
    while (size-- > 0) {
        *to++ = 0;
    }
    ++lines;
}

static void act_on(const int8_t *scores)
{
    printf("%d rows, then %s\n", lines, scores ? "scores" : "nothing");
}

int main(void)
{
SNIPPET
    return 0;
}
