# Cortex-M55 with floating point and vectors (MVE, "Helium"), in the Secure state.  GCC 12.2 must not make vectors by
# itself: where it knows which lanes are meant, it spells them wrong (row pointers, some of them NULL, become pointers to
# rows that do not exist).
set(BOARD m55)
set(BOARD_TOOLS arm-none-eabi)
set(BOARD_FLAGS "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard -fno-tree-vectorize")
set(BOARD_SOURCES arm_start.c arm_fault.c arm_v8m_protect.c)
set(BOARD_QEMU qemu-system-arm -M mps3-an547)
include("${CMAKE_CURRENT_LIST_DIR}/toolchain.cmake")
