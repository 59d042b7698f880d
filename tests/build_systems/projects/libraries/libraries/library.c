#include "branchy.h"

int branchy(void);

int branchy(void)
{
    return branchy_run() != USMP_OK;
}
