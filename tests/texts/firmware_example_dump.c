#include "digits.h"
#include "host.h"

extern const uint8_t __usmp_itcm_start[], __usmp_itcm_end[];

int main(void)
{
    const int file = host_open("itcm.bin", HOST_WRITE);
    const size_t size = (size_t)(__usmp_itcm_end - __usmp_itcm_start);

    return host_write(file, __usmp_itcm_start, size) == size && digits_run() == USMP_OK ? 0 : 1;
}
