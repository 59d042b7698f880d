# UsmpLinkPools.cmake - pools in their memory regions, where a program is linked
#
# The text of this file is also a part of every usmp-targets.cmake, so that checked-in plans are linked in the same way
# where there is no usmp_build.  So it includes no other file, and may be read twice.

cmake_policy(VERSION 3.22...4.1)

# Stop, and say what is wrong with a call.  Reads: call, and where it is in another file than CMake reads, called_from.
function(_usmp_fail text)
  if(NOT DEFINED called_from)
    set(called_from "${CMAKE_CURRENT_LIST_FILE}")
  endif()
  _usmp_show_error(FATAL_ERROR "${call}" "${called_from}" "${text}")
endfunction()

# Show an error where a call is, as CMake shows its own.  CMake has no command that does: message() always names its own
# line, which is here, and an editor would open this file.
function(_usmp_show_error mode call file text)
  _usmp_get_line("${call}" "${file}" line)
  cmake_path(IS_PREFIX CMAKE_SOURCE_DIR "${file}" NORMALIZE inside)
  if(inside)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${CMAKE_SOURCE_DIR}")
  endif()
  string(REGEX REPLACE "[(].*" "" function "${call}")
  if(line)
    set(place "at ${file}:${line} (${function})")
  else()
    set(place "in ${file}")
  endif()
  message(NOTICE "CMake Error ${place}:\n  ${call}: ${text}\n")
  message(${mode} "That was an error ${place}.")
endfunction()

# Return the line of a call such as "usmp_link_pools(app plan)" in a file, or of the only call of its function; nothing
# if several calls or none are like it: functions of the project may make it.
function(_usmp_get_line call file result)
  file(READ "${file}" lines)
  string(REGEX REPLACE "#[^\n]*" "" lines "${lines}")
  string(TOLOWER "${lines}" lines) # so does CMake with names of functions
  string(TOLOWER "${call}" call)
  string(REGEX MATCH "^([a-z_]+)[(]([^ )]*)" call "${call}")
  set(begin "(^|[^a-z0-9_])${CMAKE_MATCH_1}[ \t\r\n]*[(]")
  string(REGEX REPLACE "([][+.*()^$?|\\])" "\\\\\\1" first "${CMAKE_MATCH_2}")
  string(REGEX MATCHALL "${begin}[ \t\r\n\"]*${first}[ \t\r\n\")]" calls "${lines}")
  if(NOT calls)
    string(REGEX MATCHALL "${begin}" calls "${lines}")
  endif()
  list(LENGTH calls count)
  set(${result} "" PARENT_SCOPE)
  if(count EQUAL 1)
    string(FIND "${lines}" "${calls}" at)
    math(EXPR at "${at} + 1") # the match begins before the name
    string(SUBSTRING "${lines}" 0 ${at} before)
    string(REGEX REPLACE "[^\n]" "" before "${before}")
    string(LENGTH "${before}" line)
    math(EXPR line "${line} + 1")
    set(${result} ${line} PARENT_SCOPE)
  endif()
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
function(usmp_link_pools)
  cmake_parse_arguments(PARSE_ARGV 2 arg "CHECK;NO_CHECK" "" "")
  set(target "${ARGV0}")
  set(plan "${ARGV1}")
  set(call "usmp_link_pools(${target} ${plan})")
  if(ARGC LESS 2)
    set(call "usmp_link_pools(${ARGV})")
    _usmp_list_plans(plans)
    _usmp_fail("name the executable, and the plan whose pools are in it: usmp_link_pools(app plan)${plans}")
  endif()
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
  set_property(TARGET ${plan} APPEND PROPERTY _USMP_PROGRAMS ${target})
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

# Return the plans so far, as the end of a sentence.
function(_usmp_list_plans result)
  get_property(plans GLOBAL PROPERTY _USMP_ALL_PLANS)
  list(JOIN plans ", " plans)
  string(REGEX REPLACE "^(.+)$" "; so far there is \\1" plans "${plans}")
  set(${result} "${plans}" PARENT_SCOPE)
endfunction()

# Return the true name of a plan, which may be planned here or checked in.  Reads: call.
function(_usmp_get_plan name result)
  set(project "NOTFOUND")
  if(TARGET "${name}")
    get_target_property(project "${name}" USMP_PROJECT)
    get_target_property(alias "${name}" ALIASED_TARGET)
  endif()
  if(project MATCHES "NOTFOUND$")
    _usmp_list_plans(plans)
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
