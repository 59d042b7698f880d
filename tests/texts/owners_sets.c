#include "two.h"
#include "digits.h"
#include "odd_even.h"
#define FAST USMP_ALIGNED(TWO_FAST_ALIGNMENT) static uint8_t
#define SRAM USMP_ALIGNED(TWO_SRAM_ALIGNMENT) static uint8_t
USMP_ALIGNED(TWO_FLASH_ALIGNMENT) static const uint8_t flash[TWO_FLASH_SIZE] = {
#include "two_flash.inc"
};
FAST fast[2][(TWO_FAST_SIZE + 63) / 64 * 64];
SRAM sram[2][(TWO_SRAM_SIZE + 63) / 64 * 64];
static const struct digits_workspace_pools sets[2] = { { fast[0], sram[0] }, { fast[1], sram[1] } };
static const struct digits_constant_pools constants = { flash };
