# usmp_buildConfig.cmake - what find_package(usmp_build) reads
#
# It defines the functions of UsmpBuild.cmake, and looks for an interpreter that runs usmp_build.  Where there is
# none the package counts as not found, so that a project can fall back to generated files that it has checked in.

include("${CMAKE_CURRENT_LIST_DIR}/UsmpBuild.cmake")

_usmp_find_tool(_usmp_problem)
if(_usmp_problem)
  set(${CMAKE_FIND_PACKAGE_NAME}_FOUND FALSE)
  set(${CMAKE_FIND_PACKAGE_NAME}_NOT_FOUND_MESSAGE "${_usmp_problem}")
endif()
unset(_usmp_problem)
