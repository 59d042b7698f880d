# UsmpLibrary.cmake - a library of generated C

include_guard(GLOBAL)
cmake_policy(VERSION 3.22...4.1)

# _usmp_add_library(<name> <input> <generated file>...)
#
# Add a static library, also called usmp::<name>, of the C files among the generated ones.  What they are made of (there
# may be nothing to show) and all that is generated are listed too, for people who look at projects in an IDE.
function(_usmp_add_library name input)
  add_library(${name} STATIC ${input} ${ARGN})
  add_library(usmp::${name} ALIAS ${name})
  set_source_files_properties(${ARGN} PROPERTIES GENERATED TRUE)
  source_group("Models" FILES ${input})
  source_group("Generated" FILES ${ARGN})
  set(headers ${ARGN})
  list(FILTER headers INCLUDE REGEX "[.]h$")
  set_target_properties(${name} PROPERTIES PUBLIC_HEADER "${headers}" UNITY_BUILD OFF)
  foreach(linter CLANG_TIDY CPPCHECK CPPLINT INCLUDE_WHAT_YOU_USE) # those of the project are for what people write
    set_target_properties(${name} PROPERTIES C_${linter} "")
  endforeach()
  if(CMAKE_C_COMPILE_FEATURES) # CMake does not know those of every compiler
    target_compile_features(${name} PRIVATE c_std_99)
  endif()
endfunction()

# Link the library of <math.h>, which toolchains of GNU's kind and Unix have apart.  Whether kernels need it is known only
# when all is planned; who does not need it gets nothing of it.
function(_usmp_link_math name)
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU" OR UNIX)
    target_link_libraries(${name} PRIVATE -lm)
  endif()
endfunction()
