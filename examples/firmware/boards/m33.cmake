# Cortex-M33 with floating point, in the Secure state
set(BOARD m33)
set(BOARD_TOOLS arm-none-eabi)
set(BOARD_FLAGS "-mcpu=cortex-m33 -mthumb -mfloat-abi=hard")
set(BOARD_SOURCES arm_start.c arm_fault.c arm_v8m_protect.c)
set(BOARD_QEMU qemu-system-arm -M mps2-an505)
include("${CMAKE_CURRENT_LIST_DIR}/toolchain.cmake")
