#include "Digits_2.h"
#include "odd_even.h"

int main(void)
{
    return Digits_2_run() + odd_even_run();
}
