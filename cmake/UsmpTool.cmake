# UsmpTool.cmake - find a Python interpreter that runs usmp_build

include_guard(GLOBAL)
cmake_policy(VERSION 3.22...4.1)

set(USMP_BUILD_PYTHON "" CACHE FILEPATH "The Python interpreter that runs usmp_build; empty: look for one")

# Find the tool, once for each configuration: an interpreter that runs usmp_build in the version of these files.
# Return what is wrong if there is none.
function(_usmp_find_tool problem)
  set(${problem} "" PARENT_SCOPE)
  get_property(known GLOBAL PROPERTY _USMP_TOOL SET)
  if(known)
    return()
  endif()
  _usmp_choose_python(python)
  if(NOT python)
    set(${problem} "no Python 3.10 or newer was found; set USMP_BUILD_PYTHON to one" PARENT_SCOPE)
    return()
  endif()

  # Neither PATH nor the folder where a command happens to run has a say.  Before 3.11 Python looks there all the same,
  # so commands run where no Python file is.
  set(tool "${CMAKE_COMMAND}" -E env PYTHONDONTWRITEBYTECODE=1 PYTHONSAFEPATH=1)
  include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/usmp_buildConfigVersion.cmake") # for PACKAGE_VERSION
  set(install "usmp_build==${PACKAGE_VERSION}")
  _usmp_source_tree(root)
  if(root)
    list(APPEND tool "PYTHONPATH=${root}")
    set(install "\"${root}\"")
  endif()
  list(APPEND tool "${python}" -m usmp_build)
  execute_process(
    COMMAND ${tool} --version
    WORKING_DIRECTORY "${CMAKE_BINARY_DIR}/CMakeFiles"
    OUTPUT_VARIABLE output
    ERROR_VARIABLE output
    RESULT_VARIABLE result
  )
  string(STRIP "${output}" output)
  string(REGEX REPLACE "^.*\n" "" last "${output}")
  if(result EQUAL 0 AND last STREQUAL "usmp_build ${PACKAGE_VERSION}")
    set_property(GLOBAL PROPERTY _USMP_TOOL "${tool}")
    return()
  endif()
  if(NOT last)
    set(last "exit code ${result}")
  endif()
  string(CONCAT text
    "${python} cannot run usmp_build ${PACKAGE_VERSION} (${last}).  Install it with\n"
    "  \"${python}\" -m pip install ${install}\n"
    "or set USMP_BUILD_PYTHON to an interpreter that has it."
  )
  set(${problem} "${text}" PARENT_SCOPE)
endfunction()

# Return the interpreter: the one that was named, else the one of the virtual environment that these files are
# installed in, else any.
function(_usmp_choose_python result)
  foreach(variable USMP_BUILD_PYTHON Python3_EXECUTABLE Python_EXECUTABLE PYTHON_EXECUTABLE)
    if(${variable})
      set(${result} "${${variable}}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  foreach(python "../../../../../bin/python" "../../../../Scripts/python.exe")
    cmake_path(ABSOLUTE_PATH python BASE_DIRECTORY "${CMAKE_CURRENT_FUNCTION_LIST_DIR}" NORMALIZE)
    cmake_path(GET python PARENT_PATH scripts)
    if(EXISTS "${scripts}/../pyvenv.cfg" AND EXISTS "${python}")
      set(${result} "${python}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  find_package(Python3 3.10 QUIET COMPONENTS Interpreter)
  set(${result} "${Python3_EXECUTABLE}" PARENT_SCOPE)
endfunction()

# Return the source tree that these files are in; nothing when they are installed.
function(_usmp_source_tree result)
  cmake_path(GET CMAKE_CURRENT_FUNCTION_LIST_DIR PARENT_PATH above)
  if(EXISTS "${above}/__init__.py") # the package itself
    set(above "")
  endif()
  set(${result} "${above}" PARENT_SCOPE)
endfunction()
