# A stand-in for ESP-IDF's build system on this machine, with what plans meet there: project() adds every component,
# whose CMakeLists.txt is read twice: first by a script of CMake, in which idf_component_register() returns at once and
# targets cannot be made.  Compiler flags are options of folders.  main.c has app_main().
include_guard(GLOBAL)
set(_idf "${CMAKE_CURRENT_LIST_DIR}")

# Add the library of a component; one without sources is an interface.
function(idf_component_register)
  cmake_parse_arguments(arg "" "" "SRCS;INCLUDE_DIRS;REQUIRES" ${ARGN})
  set(lib "__idf_${COMPONENT_NAME}")
  if(arg_SRCS)
    add_library(${lib} STATIC ${arg_SRCS})
    target_include_directories(${lib} PUBLIC ${arg_INCLUDE_DIRS})
    list(TRANSFORM arg_REQUIRES PREPEND __idf_)
    target_link_libraries(${lib} PUBLIC ${arg_REQUIRES})
  else()
    add_library(${lib} INTERFACE)
  endif()
  set(COMPONENT_LIB "${lib}" PARENT_SCOPE)
endfunction()

macro(project name)
  _project(${name} C)
  set(ESP_PLATFORM 1)
  add_compile_options(-Wall -Wextra -Werror)
  file(GLOB _components "${CMAKE_CURRENT_SOURCE_DIR}/components/*")
  foreach(COMPONENT_DIR IN LISTS _components ITEMS "${CMAKE_CURRENT_SOURCE_DIR}/main")
    get_filename_component(COMPONENT_NAME "${COMPONENT_DIR}" NAME)
    execute_process(COMMAND "${CMAKE_COMMAND}" "-DCOMPONENT_DIR=${COMPONENT_DIR}" -P "${_idf}/requirements.cmake"
                    COMMAND_ERROR_IS_FATAL ANY)
    add_subdirectory("${COMPONENT_DIR}" "${CMAKE_BINARY_DIR}/esp-idf/${COMPONENT_NAME}")
  endforeach()
  add_executable(${name}.elf "${_idf}/start.c")
  target_link_libraries(${name}.elf PRIVATE __idf_main)
endmacro()
