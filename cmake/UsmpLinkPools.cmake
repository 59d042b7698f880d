# UsmpLinkPools.cmake - pools in their memory regions, where a program is linked
#
# The text of this file is also a part of every usmp-targets.cmake, so that checked-in plans are linked in the same way
# where there is no usmp_build.  So it includes no other file, and may be read twice.

cmake_policy(VERSION 3.22...4.1)

# Stop, and say what is wrong with a call.  Reads: call.
function(_usmp_fail text)
  message(FATAL_ERROR "${call}: ${text}")
endfunction()

# Refuse arguments that no keyword takes.  Reads: call.
function(_usmp_refuse_arguments)
  if(NOT "${ARGN}" STREQUAL "") # if(ARGN) would be false for "off"
    list(JOIN ARGN " " unknown)
    _usmp_fail("unknown argument: ${unknown}")
  endif()
endfunction()

# Return whether linker scripts must include the fragment: on a board, where a pool names a region.  Where an operating
# system loads programs there is no linker script, as a rule, and pools are anywhere.
function(_usmp_must_include plan result)
  get_target_property(regions ${plan} _USMP_REGIONS)
  if(UNIX OR WIN32 OR regions STREQUAL "" OR regions MATCHES "NOTFOUND$") # checked in by an older version
    set(${result} FALSE PARENT_SCOPE)
  else()
    set(${result} TRUE PARENT_SCOPE)
  endif()
endfunction()

# usmp_link_pools(<target> <plan> [CHECK | NO_CHECK])
#
# Lets every link of an executable be followed by `usmp-build check`: an image in which a pool is not as planned is an
# error.  That is the default on a board where a pool of the plan names a region; CHECK asks for it anywhere.  Where
# there is no usmp_build, CMake says that the image is not checked.  The plan may also be that of a checked-in folder.
function(usmp_link_pools target plan)
  cmake_parse_arguments(PARSE_ARGV 2 arg "CHECK;NO_CHECK" "" "")
  set(call "usmp_link_pools(${target} ${plan})")
  _usmp_refuse_arguments(${arg_UNPARSED_ARGUMENTS})
  if(arg_CHECK AND arg_NO_CHECK)
    _usmp_fail("say CHECK or NO_CHECK, not both")
  endif()
  _usmp_get_linked("${target}" target)
  _usmp_get_plan("${plan}" plan)
  # Usage requirements of the plan do not reach the target where CMP0099 is old, nor from folders of older versions.
  get_target_property(dir ${plan} USMP_DIR)
  get_target_property(fragment ${plan} USMP_LINKER_FRAGMENT)
  get_target_property(copy_table ${plan} USMP_COPY_TABLE)
  target_link_options(${target} PRIVATE "-L${dir}")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${fragment}" "${copy_table}")
  get_target_property(gen ${plan} _USMP_GEN)
  if(gen) # the files of others are checked in
    add_dependencies(${target} ${gen})
  endif()

  get_target_property(type ${target} TYPE)
  _usmp_must_include(${plan} required)
  if(arg_NO_CHECK)
    get_target_property(project ${plan} USMP_PROJECT)
    set_target_properties(${target} PROPERTIES _USMP_CHECK_OF_${project} "NO_CHECK")
  elseif(arg_CHECK OR (required AND type STREQUAL "EXECUTABLE"))
    _usmp_check_image(${target} ${plan})
  endif()
endfunction()

# Return the true name of a plan, which may be planned here or checked in.  Reads: call.
function(_usmp_get_plan name result)
  set(project "NOTFOUND")
  if(TARGET "${name}")
    get_target_property(project "${name}" USMP_PROJECT)
    get_target_property(alias "${name}" ALIASED_TARGET)
  endif()
  if(project MATCHES "NOTFOUND$")
    get_property(plans GLOBAL PROPERTY _USMP_ALL_PLANS)
    list(JOIN plans ", " plans)
    string(REGEX REPLACE "^(.+)$" "; so far there is \\1" plans "${plans}")
    _usmp_fail("there is no plan \"${name}\" yet; usmp_add_plan() adds one, and so does a checked-in folder${plans}")
  endif()
  if(NOT alias MATCHES "NOTFOUND$")
    set(name "${alias}")
  endif()
  set(${result} "${name}" PARENT_SCOPE)
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

# Check an executable after every link, and link again when the plan changes.  Where that cannot be done and nobody said
# CHECK, say that the image is not checked.  Reads: call, arg_CHECK.
function(_usmp_check_image target plan)
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL "EXECUTABLE")
    _usmp_fail("CHECK reads the image of an executable, which \"${target}\" is not")
  endif()
  get_target_property(folder ${target} SOURCE_DIR)
  if(NOT folder STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    if(arg_CHECK)
      _usmp_fail("CHECK can be said only in the folder that adds \"${target}\", \"${folder}\"")
    endif()
    _usmp_tell_unchecked(${target} "usmp_link_pools() was not called in the folder that adds it, \"${folder}\"")
    return()
  endif()
  if(COMMAND _usmp_find_tool)
    _usmp_find_tool(problem)
  endif()
  if(NOT COMMAND _usmp_find_tool OR problem) # only checked-in plans are there without the tool
    _usmp_tell_unchecked(${target} "usmp_build was not found")
    return()
  endif()
  _usmp_get_tool(tool)
  get_target_property(project ${plan} USMP_PROJECT)
  get_target_property(json ${plan} USMP_PLAN_JSON)
  set_target_properties(${target} PROPERTIES _USMP_CHECK_OF_${project} "CHECK") # which says more than a missing symbol
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${json}")
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${tool} check "${json}" --elf "$<TARGET_FILE:${target}>"
    WORKING_DIRECTORY "${CMAKE_BINARY_DIR}/CMakeFiles"
    COMMENT "Checking the pools of ${target}"
    VERBATIM
  )
endfunction()

# Say once why nothing checks an image.
function(_usmp_tell_unchecked target why)
  get_target_property(said ${target} _USMP_UNCHECKED)
  if(NOT said)
    message(STATUS "${why}: the image of \"${target}\" is not checked")
    set_target_properties(${target} PROPERTIES _USMP_UNCHECKED TRUE)
  endif()
endfunction()
