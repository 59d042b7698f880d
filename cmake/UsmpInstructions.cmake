# UsmpInstructions.cmake - for which processor a plan is compiled

include_guard(GLOBAL)
cmake_policy(VERSION 3.22...4.1)

include("${CMAKE_CURRENT_LIST_DIR}/UsmpOptions.cmake") # for _usmp_get_compile_options()

# Return the last option that tells the compiler for which processor, or architecture, it compiles a plan: -mcpu=...,
# -march=..., IAR's --cpu.  Without one, CMAKE_SYSTEM_PROCESSOR as such an option, if that names Arm's: toolchain files
# may say "cortex-m4".  Nothing if neither is there.  All targets must be there.
#
# Options are searched as text.  So what a generator expression adds counts whether or not it is true: on processors with
# other instructions than those planned for the code runs, too, only slower.
function(_usmp_get_processor plan taken result)
  get_target_property(folder ${plan} SOURCE_DIR)
  foreach(name CMAKE_C_COMPILER_ARG1 CMAKE_C_FLAGS CMAKE_SYSTEM_PROCESSOR)
    get_directory_property(${name} DIRECTORY "${folder}" DEFINITION ${name})
  endforeach()
  set(seen "")
  _usmp_get_compile_options(${plan} COMPILE_OPTIONS LINK_LIBRARIES options)
  list(JOIN options " " options)
  set(text "${CMAKE_C_COMPILER_ARG1} ${CMAKE_C_FLAGS} ${taken} ${options}")
  string(REGEX MATCHALL "(-mcpu=|-march=|--cpu[= ])[A-Za-z0-9_.+-]+" found "${text}")
  if(NOT found AND CMAKE_SYSTEM_PROCESSOR MATCHES "^([Cc]ortex-|[Aa]rmv)[A-Za-z0-9_.+-]+$")
    set(found "-mcpu=${CMAKE_SYSTEM_PROCESSOR}")
  endif()
  list(POP_BACK found option)
  set(${result} "${option}" PARENT_SCOPE)
endfunction()
