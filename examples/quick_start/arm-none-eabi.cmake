# arm-none-eabi.cmake - a toolchain file as many firmware projects have it; CMakePresets.json sets BOARD_CPU
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_C_FLAGS_INIT "-mcpu=${BOARD_CPU} -mthumb -mfloat-abi=hard -ffunction-sections -fdata-sections")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--gc-sections,--print-memory-usage")
set(CMAKE_EXECUTABLE_SUFFIX_C .elf)

# Without our linker script nothing can be linked, so CMake must not try.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES BOARD_CPU)

# Programs are those of this computer; everything else is for the board.
set(CMAKE_FIND_ROOT_PATH "${CMAKE_CURRENT_LIST_DIR}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# What ctest runs programs with; semihosting prints to QEMU's output.
set(CMAKE_CROSSCOMPILING_EMULATOR
  qemu-system-arm -M ${BOARD_MACHINE} -display none -monitor none -serial none
  -chardev stdio,id=host -semihosting-config enable=on,target=native,chardev=host -kernel
)
