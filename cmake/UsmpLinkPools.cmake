# UsmpLinkPools.cmake - pools in their memory regions, where a program is linked

include_guard(GLOBAL)
cmake_policy(VERSION 3.22...4.1)

include("${CMAKE_CURRENT_LIST_DIR}/UsmpCall.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/UsmpTool.cmake")

# usmp_link_pools(<target> <plan> [CHECK])
#
# Lets the linker script of an executable INCLUDE the plan's linker fragment, and links again when it changes.
# Without a linker script it does nothing that could be seen.  The plan may also be that of a checked-in folder, which
# has this function too, for builds without usmp_build: usmp_build/emitters/templates/usmp-targets.cmake.j2.
#
# With CHECK, every link is followed by `usmp-build check`: an image in which a pool is not as planned is an error.
function(usmp_link_pools target plan)
  cmake_parse_arguments(PARSE_ARGV 2 arg "CHECK" "" "")
  set(call "usmp_link_pools(${target} ${plan})")
  _usmp_check_call()
  _usmp_get_linked("${target}" target)
  _usmp_get_plan("${plan}" plan)
  get_target_property(dir ${plan} USMP_DIR)
  get_target_property(fragment ${plan} USMP_LINKER_FRAGMENT)
  get_target_property(copy_table ${plan} USMP_COPY_TABLE)
  # Compilers hand a plain -L on before any script.  "-Wl,-L" would have to stand before "-Wl,-T", and a comma in the
  # path would split it; a link directory of CMake's would end up in the run path of the program.
  target_link_options(${target} PRIVATE "-L${dir}")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${fragment}" "${copy_table}")
  get_target_property(gen ${plan} _USMP_GEN)
  if(gen) # the files of others are checked in
    add_dependencies(${target} ${gen})
  endif()
  if(arg_CHECK)
    _usmp_check_image(${target} ${plan})
  endif()
endfunction()

# Return the true name of a target that is linked.  Reads: call.
function(_usmp_get_linked target result)
  if(NOT TARGET "${target}")
    _usmp_fail("there is no target \"${target}\" yet")
  endif()
  get_target_property(type "${target}" TYPE)
  if(NOT type MATCHES "^(EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY)$")
    _usmp_fail("nothing links \"${target}\"; name the executable that the pools are in")
  endif()
  get_target_property(alias "${target}" ALIASED_TARGET)
  if(NOT alias MATCHES "NOTFOUND$")
    set(target "${alias}")
  endif()
  set(${result} "${target}" PARENT_SCOPE)
endfunction()

# Check an executable after every link, and link again when the plan changes.  Only checked-in plans are there without
# the tool; then say once that nothing checks.  Reads: call.
function(_usmp_check_image target plan)
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL "EXECUTABLE")
    _usmp_fail("CHECK reads the image of an executable, which \"${target}\" is not")
  endif()
  get_target_property(folder ${target} SOURCE_DIR)
  if(NOT folder STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    _usmp_fail("CHECK can be said only in the folder that adds \"${target}\", \"${folder}\"")
  endif()
  _usmp_find_tool(problem)
  if(problem)
    get_target_property(said ${target} _USMP_UNCHECKED)
    if(NOT said)
      message(STATUS "usmp_build was not found: the image of \"${target}\" is not checked")
      set_target_properties(${target} PROPERTIES _USMP_UNCHECKED TRUE)
    endif()
    return()
  endif()
  _usmp_get_tool(tool)
  get_target_property(json ${plan} USMP_PLAN_JSON)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${json}")
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${tool} check "${json}" --elf "$<TARGET_FILE:${target}>"
    WORKING_DIRECTORY "${CMAKE_BINARY_DIR}/CMakeFiles"
    COMMENT "Checking the pools of ${target}"
    VERBATIM
  )
endfunction()
