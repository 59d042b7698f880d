#include "digits.h"
#include "odd_even.h"

extern "C" int branchy(void);

int main()
{
    return digits_run() != USMP_OK || odd_even_run() != USMP_OK || branchy();
}
