#include "branchy.h"

int branchy(void);

int main(void)
{
    return branchy() + !branchy_map_inputs().picture;
}
