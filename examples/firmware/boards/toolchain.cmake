# toolchain.cmake - what the toolchain files of all boards have in common
#
#   BOARD_TOOLS    what the names of compiler and linker begin with
#   BOARD_FLAGS    for which processor, and which C library
#   BOARD_SOURCES  the files of platform/ that only processors of its kind need
#   BOARD_QEMU     the command that runs such a board

set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_C_COMPILER ${BOARD_TOOLS}-gcc)
set(CMAKE_C_FLAGS_INIT "${BOARD_FLAGS} -ffunction-sections -fdata-sections")
set(CMAKE_ASM_FLAGS_INIT "${BOARD_FLAGS}")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-nostartfiles -Wl,--gc-sections,--print-memory-usage")
set(CMAKE_EXECUTABLE_SUFFIX_C .elf)

# Without our linker script nothing can be linked, so CMake must not try.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)

# `run` and ctest append the program.  Semihosting has no device of its own: what it prints goes to QEMU's output.
list(GET BOARD_QEMU 0 qemu)
find_program(BOARD_EMULATOR ${qemu})
if(BOARD_EMULATOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR
    ${BOARD_QEMU} -display none -monitor none -serial none
    -chardev stdio,id=host -semihosting-config enable=on,target=native,chardev=host -kernel
  )
endif()
