#include "Arduino.h"
int main(void) {
    setup();
    loop();
    return 0;
}
