# UsmpTool.cmake - find a Python interpreter that runs usmp_build

include_guard(GLOBAL)
cmake_policy(VERSION 3.22...4.1)

include("${CMAKE_CURRENT_LIST_DIR}/UsmpCall.cmake")

set(USMP_BUILD_PYTHON "" CACHE STRING "The Python interpreter that runs usmp_build; empty: look for one")

# Find the tool, once for each configuration: an interpreter that runs usmp_build in the version of these files.
# Return what is wrong if there is none.
function(_usmp_find_tool problem)
  set(${problem} "" PARENT_SCOPE)
  include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/usmp_buildConfigVersion.cmake") # for PACKAGE_VERSION
  get_property(known GLOBAL PROPERTY _USMP_VERSION)
  if(known STREQUAL PACKAGE_VERSION)
    return()
  elseif(known)
    set(text "two versions of usmp_build in one build: ${known}, and ${PACKAGE_VERSION} in")
    set(${problem} "${text} \"${CMAKE_CURRENT_FUNCTION_LIST_DIR}\"" PARENT_SCOPE)
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
  set(install "usmp_build==${PACKAGE_VERSION}")
  _usmp_source_tree(root)
  if(root)
    list(APPEND tool "PYTHONPATH=${root}")
    set(install "\"${root}\"")
    file(GLOB sources "${root}/core/*.cpp" "${root}/core/*.h" "${root}/core/*.txt")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${root}/core" ${sources})
  endif()
  _usmp_ask_tool(${tool} "${python}" RESULT result OUTPUT output)
  if(root AND output MATCHES "compiled core")
    _usmp_build_core("${root}" core errors)
    if(NOT core)
      set(${problem} "the core of its planner cannot be compiled:\n${errors}" PARENT_SCOPE)
      return()
    endif()
    list(APPEND tool "_USMP_BUILD_CORE=${core}")
    _usmp_ask_tool(${tool} "${python}" RESULT result OUTPUT output)
  endif()
  string(REGEX REPLACE "^.*\n" "" last "${output}")
  if(result EQUAL 0 AND last STREQUAL "usmp_build ${PACKAGE_VERSION}")
    set_property(GLOBAL PROPERTY _USMP_VERSION "${PACKAGE_VERSION}")
    set_property(GLOBAL PROPERTY _USMP_TOOL ${tool} "${python}" -m usmp_build)
    return()
  endif()
  if(NOT last)
    set(last "exit code ${result}")
  endif()
  string(CONCAT text
    "\"${python}\" cannot run usmp_build ${PACKAGE_VERSION} (${last}).  Install it with\n"
    "  \"${python}\" -m pip install ${install}\n"
    "or set USMP_BUILD_PYTHON to an interpreter that has it."
  )
  set(${problem} "${text}" PARENT_SCOPE)
endfunction()

# Ask a command line of Python whether it has all that planning needs: the dependencies of pyproject.toml, and the core.
function(_usmp_ask_tool)
  cmake_parse_arguments(arg "" "RESULT;OUTPUT" "" ${ARGN})
  string(CONCAT program
    "import usmp_build, jinja2, numpy, pydantic, tomli\n"
    "from usmp_build.errors import UsmpError\n"
    "from usmp_build.planner.algorithms import core\n"
    "try:\n core.check()\nexcept UsmpError as error:\n raise SystemExit(error.diagnostics[0].message)\n"
    "print('usmp_build', usmp_build.__version__)"
  )
  execute_process(
    COMMAND ${arg_UNPARSED_ARGUMENTS} -c "${program}"
    WORKING_DIRECTORY "${CMAKE_BINARY_DIR}/CMakeFiles"
    OUTPUT_VARIABLE output
    ERROR_VARIABLE output
    RESULT_VARIABLE result
  )
  string(STRIP "${output}" output)
  set(${arg_RESULT} "${result}" PARENT_SCOPE)
  set(${arg_OUTPUT} "${output}" PARENT_SCOPE)
endfunction()

# Compile the core of a source tree for this machine, whatever the project is compiled for: what the environment says
# about compilers, generators and folders is meant for the project.  Return the library; or nothing, and why.
function(_usmp_build_core root library errors)
  set(${library} "" PARENT_SCOPE)
  set(folder "${CMAKE_BINARY_DIR}/CMakeFiles/usmp_build_core")
  string(SHA1 key "${root}") # what was configured for a tree serves no other one
  set(build "${folder}/${key}")
  set(here "${CMAKE_COMMAND}" -E env)
  foreach(variable
      CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS DESTDIR MAKEFLAGS
      CMAKE_TOOLCHAIN_FILE CMAKE_GENERATOR CMAKE_GENERATOR_PLATFORM CMAKE_GENERATOR_TOOLSET CMAKE_GENERATOR_INSTANCE
      CMAKE_BUILD_TYPE CMAKE_CONFIGURATION_TYPES CMAKE_OSX_ARCHITECTURES CMAKE_INSTALL_MODE
      CPATH CPLUS_INCLUDE_PATH LIBRARY_PATH
  )
    list(APPEND here "--unset=${variable}")
  endforeach()
  set(generator -G "${CMAKE_GENERATOR}" "-DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM}")
  message(STATUS "usmp_build: compiling the core of its planner")
  foreach(step
      "-S;${root}/core;-B;${build};${generator}"
      "--build;${build};--config;Release;--parallel"
      "--install;${build};--config;Release;--prefix;${folder}"
  )
    execute_process(
      COMMAND ${here} "${CMAKE_COMMAND}" ${step}
      OUTPUT_VARIABLE output
      ERROR_VARIABLE output
      RESULT_VARIABLE result
    )
    if(NOT result EQUAL 0)
      string(REPLACE "\n" "\n  " output "${output}") # CMake shows lines as they are if they are indented
      set(${errors} "  ${output}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  file(GLOB made "${folder}/_usmp_build_core.*")
  set(${library} "${made}" PARENT_SCOPE)
endfunction()

# Return the interpreter: the one that was named, else the one that these files are installed in, else the one that the
# project uses, else any.  A path begins where the project is, a name is looked for.
function(_usmp_choose_python result)
  set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER) # it runs here, whatever we compile for
  _usmp_python_of_installation(mine)
  foreach(variable USMP_BUILD_PYTHON mine Python3_EXECUTABLE Python_EXECUTABLE PYTHON_EXECUTABLE)
    if(${variable})
      set(python "${${variable}}")
      if(NOT python MATCHES "[/\\\\]")
        find_program(_usmp_python "${python}" NO_CACHE)
        if(_usmp_python)
          set(python "${_usmp_python}")
        endif()
      endif()
      cmake_path(ABSOLUTE_PATH python BASE_DIRECTORY "${CMAKE_SOURCE_DIR}")
      set(${result} "${python}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  find_package(Python3 3.10 QUIET COMPONENTS Interpreter)
  set(${result} "${Python3_EXECUTABLE}" PARENT_SCOPE)
endfunction()

# Return the interpreter in whose site-packages these files are, as far as their place tells; else nothing.
function(_usmp_python_of_installation result)
  set(${result} "" PARENT_SCOPE)
  set(here "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
  if(here MATCHES "^(.*)/lib[0-9]*/(python3[.][0-9]+)/site-packages/usmp_build/cmake$")
    set(python "${CMAKE_MATCH_1}/bin/${CMAKE_MATCH_2}")
  elseif(here MATCHES "^(.*)/[Ll]ib/site-packages/usmp_build/cmake$") # Windows: of a virtual environment
    set(python "${CMAKE_MATCH_1}/Scripts/python.exe")
  else()
    return()
  endif()
  if(EXISTS "${python}")
    set(${result} "${python}" PARENT_SCOPE)
  endif()
endfunction()

# Return the source tree that these files are in; nothing when they are installed.
function(_usmp_source_tree result)
  cmake_path(GET CMAKE_CURRENT_FUNCTION_LIST_DIR PARENT_PATH above)
  if(NOT EXISTS "${above}/usmp_build/__init__.py")
    set(above "")
  endif()
  set(${result} "${above}" PARENT_SCOPE)
endfunction()

# Return the command line of the tool, or stop.  Reads: call.
function(_usmp_get_tool result)
  _usmp_find_tool(problem)
  if(problem)
    _usmp_fail("${problem}")
  endif()
  get_property(tool GLOBAL PROPERTY _USMP_TOOL)
  set(${result} "${tool}" PARENT_SCOPE)
endfunction()
