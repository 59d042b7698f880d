# UsmpCall.cmake - what is wrong with a call of one of our functions, in one sentence
#
# These functions read the variables of the function that calls them: `call`, which is how its call begins, and `arg_*`,
# its arguments.  All keywords are parsed as if they took lists: cmake_parse_arguments() tells nothing else of "".
#
# Names are compared with "": if(name) is false for one that is called "no" or "off".

include_guard(GLOBAL)
cmake_policy(VERSION 3.22...4.1)

include("${CMAKE_CURRENT_LIST_DIR}/UsmpLinkPools.cmake") # for _usmp_fail()

# _usmp_check_call([NEEDS <keyword>...] [ONE <keyword>...] [MANY <keyword>...])
#
# Refuse arguments that no keyword takes, keywords without a value, and those of NEEDS that are not there.  Keywords of
# NEEDS and ONE take one value, those of MANY a list, of which several may stand in one argument, "a;b".
# Sets: arg_<keyword> of those, one name each.
function(_usmp_check_call)
  cmake_parse_arguments(PARSE_ARGV 0 keywords "" "" "NEEDS;ONE;MANY")
  set(unknown "${arg_UNPARSED_ARGUMENTS}")
  foreach(keyword IN LISTS keywords_NEEDS keywords_ONE keywords_MANY)
    if(NOT DEFINED arg_${keyword} AND keyword IN_LIST keywords_NEEDS AND arg_UNPARSED_ARGUMENTS)
      list(JOIN arg_UNPARSED_ARGUMENTS " " unparsed)
      string(REGEX REPLACE "[)]$" " ${keyword} ${unparsed})" better "${call}")
      _usmp_fail("${keyword} is missing before \"${unparsed}\"; write ${better}")
    endif()
    if("" IN_LIST arg_${keyword} OR keyword IN_LIST arg_KEYWORDS_MISSING_VALUES
       OR (DEFINED arg_${keyword} AND arg_${keyword} STREQUAL "")
       OR (NOT DEFINED arg_${keyword} AND keyword IN_LIST keywords_NEEDS))
      _usmp_fail("${keyword} needs a value")
    endif()
    if(NOT keyword IN_LIST keywords_MANY AND DEFINED arg_${keyword})
      set(others "${arg_${keyword}}")
      list(POP_FRONT others)
      list(APPEND unknown ${others})
    elseif(DEFINED arg_${keyword})
      set(arg_${keyword} ${arg_${keyword}} PARENT_SCOPE)
    endif()
  endforeach()
  _usmp_refuse_arguments(${unknown})
endfunction()

# Return the absolute path of a file or folder that a keyword names, without a slash at its end.
function(_usmp_get_path keyword base result)
  if(arg_${keyword} MATCHES ";")
    _usmp_fail("${keyword} must not contain a semicolon, CMake's list separator")
  endif()
  cmake_path(ABSOLUTE_PATH arg_${keyword} BASE_DIRECTORY "${base}" NORMALIZE OUTPUT_VARIABLE path)
  string(REGEX REPLACE "(.)/$" "\\1" path "${path}")
  set(${result} "${path}" PARENT_SCOPE)
endfunction()

# Refuse a project without C.
function(_usmp_check_language)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "C" IN_LIST languages)
    _usmp_fail("the generated code is C, which this project does not enable; write project(... LANGUAGES C)")
  endif()
endfunction()

# Refuse a name that another target has.
function(_usmp_check_new_target name)
  foreach(target "${name}" "usmp::${name}")
    if(TARGET "${target}")
      _usmp_fail("a target named \"${target}\" exists already; choose another name")
    endif()
  endforeach()
endfunction()
