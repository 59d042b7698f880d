# In place of the Raspberry Pi Pico SDK: a toolchain file before project(), then a library with start-up code and the
# linker script of the chip, and the SDK's step after the link.
set(PICO_STAND_IN "${CMAKE_CURRENT_LIST_DIR}")
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR cortex-m0plus)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_C_FLAGS_INIT "-mcpu=cortex-m0plus -mthumb")

macro(pico_sdk_init)
  add_library(pico_stdlib INTERFACE)
  target_sources(pico_stdlib INTERFACE "${PICO_STAND_IN}/start.c")
  target_link_options(pico_stdlib INTERFACE -nostartfiles "LINKER:--script=${PICO_STAND_IN}/memmap_default.ld")
endmacro()

function(pico_add_extra_outputs target)
  add_custom_command(
    TARGET ${target} POST_BUILD COMMAND arm-none-eabi-objcopy -Obinary $<TARGET_FILE:${target}> ${target}.bin)
endfunction()
