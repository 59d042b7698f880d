# usmp_buildConfigVersion.cmake - tells find_package(usmp_build <version>) which version this is, and whether it will do
#
# The version is the one that usmp_build/__init__.py states: beside this folder in the source tree, above it in an
# installed package.  An editable installation has a copy of this folder, and its metadata state the version.  Before
# 1.0 another minor version is another interface.

set(PACKAGE_VERSION "")
foreach(_usmp_init "../__init__.py" "../usmp_build/__init__.py")
  set(_usmp_init "${CMAKE_CURRENT_LIST_DIR}/${_usmp_init}")
  if(EXISTS "${_usmp_init}")
    file(STRINGS "${_usmp_init}" _usmp_line REGEX "^__version__ = ")
    string(REGEX REPLACE "^[^\"]*\"([^\"]*)\".*" "\\1" PACKAGE_VERSION "${_usmp_line}")
  endif()
endforeach()
file(GLOB _usmp_init "${CMAKE_CURRENT_LIST_DIR}/../../usmp_build-*.dist-info/METADATA")
if(_usmp_init AND NOT PACKAGE_VERSION)
  file(STRINGS "${_usmp_init}" _usmp_line REGEX "^Version: ")
  string(REPLACE "Version: " "" PACKAGE_VERSION "${_usmp_line}")
endif()
unset(_usmp_init)
unset(_usmp_line)

string(REGEX MATCH "^(0\\.)?[0-9]+" _usmp_series "${PACKAGE_VERSION}")
string(REGEX MATCH "^(0\\.)?[0-9]+" _usmp_wanted "${PACKAGE_FIND_VERSION}")
if(PACKAGE_FIND_VERSION_RANGE)
  if(PACKAGE_VERSION VERSION_GREATER_EQUAL PACKAGE_FIND_VERSION_MIN
     AND (PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION_MAX
          OR (PACKAGE_FIND_VERSION_RANGE_MAX STREQUAL "INCLUDE"
              AND PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION_MAX)))
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
  endif()
elseif(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  set(PACKAGE_VERSION_EXACT TRUE)
elseif(PACKAGE_VERSION VERSION_GREATER PACKAGE_FIND_VERSION)
  # "find_package(usmp_build 0)" names no minor version, and takes any.
  if(_usmp_series STREQUAL _usmp_wanted OR (_usmp_wanted STREQUAL "0" AND _usmp_series MATCHES "^0"))
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
  endif()
endif()
unset(_usmp_series)
unset(_usmp_wanted)
