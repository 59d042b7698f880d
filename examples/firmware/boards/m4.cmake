# Cortex-M4 with floating point
set(BOARD m4)
set(BOARD_TOOLS arm-none-eabi)
set(BOARD_FLAGS "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard")
set(BOARD_SOURCES arm_start.c arm_fault.c arm_v7m_protect.c)
set(BOARD_QEMU qemu-system-arm -M mps2-an386)
include("${CMAKE_CURRENT_LIST_DIR}/toolchain.cmake")
