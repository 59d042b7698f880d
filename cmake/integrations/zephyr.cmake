# zephyr.cmake - plans in a build of Zephyr
#
# The text of this file is also a part of every usmp-targets.cmake, as that of UsmpLinkPools.cmake is.

# usmp_zephyr(<plan>)
#
# Compiles a plan and its models with the flags of the kernel, and places their pools in the image.  Zephyr's linker
# scripts are preprocessed and #include the linker fragment, so it must be generated before that.
function(usmp_zephyr plan)
  set(call "usmp_zephyr(${plan})")
  _usmp_refuse_arguments(${ARGN})
  _usmp_get_plan("${plan}" plan)
  if(NOT COMMAND zephyr_linker_sources)
    _usmp_fail("this is not a build of Zephyr; call find_package(Zephyr) first")
  endif()
  get_target_property(done ${plan} _USMP_ZEPHYR)
  if(done) # a second fragment would define the same sections
    return()
  endif()
  set_target_properties(${plan} PROPERTIES _USMP_ZEPHYR TRUE)
  target_link_libraries(${plan} PUBLIC zephyr_interface) # models link the plan, so they get the flags, too
  get_target_property(fragment ${plan} USMP_LINKER_FRAGMENT)
  zephyr_linker_sources(RAM_SECTIONS "${fragment}") # location SECTIONS is above _end, where malloc()'s heap begins
  get_target_property(gen ${plan} _USMP_GEN)
  if(gen) # the files of others are checked in
    add_dependencies(zephyr_generated_headers ${gen})
  endif()
endfunction()
