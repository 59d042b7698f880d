# The first time that a component is read: nothing after idf_component_register() may be reached, and
# ESP_PLATFORM is not set yet.
set(CMAKE_BUILD_EARLY_EXPANSION TRUE)

macro(idf_component_register)
  set(is_registered TRUE)
  return()
endmacro()

include("${COMPONENT_DIR}/CMakeLists.txt")
if(NOT is_registered)
  message(FATAL_ERROR "${COMPONENT_DIR} does not call idf_component_register()")
endif()
