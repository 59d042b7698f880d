#include <stdio.h>
#include "two.h"
#include "two_guard.h"

int main(void)
{
    uint8_t *const bases[1] = { NULL };
    const int first = (int)two_enter(0, bases, 1);
    const int second = (int)two_enter(1, bases, 1);

    two_leave(0, bases, 1);
    printf("%d %d %d\n", first, second, (int)two_enter(1, bases, 1));
    return 0;
}
