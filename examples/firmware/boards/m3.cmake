# Cortex-M3
set(BOARD m3)
set(BOARD_TOOLS arm-none-eabi)
set(BOARD_FLAGS "-mcpu=cortex-m3 -mthumb")
set(BOARD_SOURCES arm_start.c arm_fault.c arm_v7m_protect.c)
set(BOARD_QEMU qemu-system-arm -M mps2-an385)
include("${CMAKE_CURRENT_LIST_DIR}/toolchain.cmake")
