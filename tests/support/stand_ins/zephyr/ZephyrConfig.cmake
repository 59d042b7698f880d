# A stand-in for Zephyr's CMake package, with what plans meet there: find_package() enables the compiler, flags are on
# zephyr_interface, the library `app`, modules, and linker scripts that the C preprocessor makes, one for each of two
# passes, from a template that includes the files of zephyr_linker_sources().
include_guard(GLOBAL)
set(ZEPHYR_BASE "${CMAKE_CURRENT_LIST_DIR}")
set(_build "${CMAKE_BINARY_DIR}/zephyr")

set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
project(Zephyr-Kernel C ASM)

add_library(zephyr_interface INTERFACE)
target_compile_options(zephyr_interface INTERFACE
  -mcpu=cortex-m3 -mthumb -Os -ffreestanding -ffunction-sections -fdata-sections -Wall -Werror
)
add_custom_target(zephyr_generated_headers)
add_library(app STATIC)
target_link_libraries(app PUBLIC zephyr_interface)

set(_snippets sections ram-sections data-sections noinit rodata)
foreach(name IN LISTS _snippets)
  file(WRITE "${_build}/include/generated/snippets-${name}.ld" "")
endforeach()

function(zephyr_linker_sources location)
  cmake_parse_arguments(arg "" "SORT_KEY" "" ${ARGN})
  string(TOLOWER "${location}" name)
  string(REPLACE "_" "-" name "${name}")
  foreach(file IN LISTS arg_UNPARSED_ARGUMENTS)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    if(IS_DIRECTORY "${file}")
      message(FATAL_ERROR "zephyr_linker_sources() takes files, and \"${file}\" is a folder")
    endif()
    file(RELATIVE_PATH file "${ZEPHYR_BASE}" "${file}")
    set(line "/* Sort key: \"${arg_SORT_KEY}\" */#include \"${file}\"\n")
    file(APPEND "${CMAKE_BINARY_DIR}/zephyr/include/generated/snippets-${name}.ld" "${line}")
  endforeach()
endfunction()

# Modules are added before the application's own lines, from the folder that module.yml names.
foreach(module IN LISTS ZEPHYR_EXTRA_MODULES)
  file(STRINGS "${module}/zephyr/module.yml" lines REGEX "^  cmake: ")
  string(REPLACE "  cmake: " "" folder "${lines}")
  add_subdirectory("${module}/${folder}" "${CMAKE_BINARY_DIR}/modules/module")
endforeach()

function(_zephyr_pass name)
  set(script "${CMAKE_BINARY_DIR}/zephyr/${name}.cmd")
  add_custom_command(
    OUTPUT "${script}"
    COMMAND ${CMAKE_C_COMPILER} -x assembler-with-cpp -undef -MD -MF "${script}.dep" -MT "${script}"
            -D_LINKER -D_ASMLANGUAGE -I "${ZEPHYR_BASE}" -I "${CMAKE_BINARY_DIR}/zephyr/include/generated"
            -D${name} -E "${ZEPHYR_BASE}/linker.ld" -P -o "${script}"
    DEPENDS "${ZEPHYR_BASE}/linker.ld" zephyr_generated_headers
    DEPFILE "${script}.dep"
    VERBATIM
    COMMAND_EXPAND_LISTS
  )
  add_custom_target(${name}_script DEPENDS "${script}")
  add_executable(${name} "${ZEPHYR_BASE}/start.c")
  add_dependencies(${name} ${name}_script)
  target_link_libraries(${name} PRIVATE zephyr_interface -Wl,--whole-archive app -Wl,--no-whole-archive)
  target_link_options(${name} PRIVATE -mcpu=cortex-m3 -mthumb -nostartfiles --specs=rdimon.specs -Wl,--gc-sections
                      -Wl,--orphan-handling=error "-Wl,-T,${script}")
  set_property(TARGET ${name} PROPERTY LINK_DEPENDS "${script}")
  set_property(TARGET ${name} PROPERTY SUFFIX .elf)
  set_property(TARGET ${name} PROPERTY RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/zephyr")
endfunction()

function(_zephyr_image)
  _zephyr_pass(zephyr_pre0)
  _zephyr_pass(zephyr)
  add_dependencies(zephyr zephyr_pre0)
endfunction()
cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL _zephyr_image)
