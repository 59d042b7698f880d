# RISC-V, 32 bits, with picolibc.  The older ISA specification counts the instructions for control registers among the
# basic ones; by the newer one -march would have to name them, and no library is built for that name.
set(BOARD riscv)
set(BOARD_TOOLS riscv64-unknown-elf)
set(BOARD_FLAGS "-march=rv32imac -mabi=ilp32 -misa-spec=2.2 --specs=picolibc.specs")
set(BOARD_SOURCES riscv_start.S riscv_fault.c riscv_protect.c)
set(BOARD_QEMU qemu-system-riscv32 -M virt -bios none)
include("${CMAKE_CURRENT_LIST_DIR}/toolchain.cmake")
