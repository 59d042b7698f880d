# UsmpAddPlan.cmake - a plan: one manifest, and the library of what all of its models share

include_guard(GLOBAL)
cmake_policy(VERSION 3.22...4.1)

include("${CMAKE_CURRENT_LIST_DIR}/UsmpCall.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/UsmpGenerate.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/UsmpLibrary.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/UsmpLinkPools.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/UsmpTool.cmake")

# usmp_add_plan(<plan> MANIFEST <usmp.toml> [OUTPUT_DIR <folder>])
#
# Adds the library <plan>, also called usmp::<plan> and, as where its files are checked in, usmp::<project>: the pools
# and kernels of all models that name it.  The files are generated into OUTPUT_DIR, by default <plan>.usmp in the build
# tree.  Properties of <plan>:
#
#   USMP_PROJECT          the manifest's project, which is the prefix of files and symbols
#   USMP_DIR              the folder of the generated files
#   USMP_LINKER_FRAGMENT  the linker fragment
#   USMP_COPY_TABLE       the fragment of the start-up code's copy table
#   USMP_PLAN_JSON        the plan for other programs
#   USMP_MODELS           the models so far
#
# Whatever links <plan>, or one of its models, can INCLUDE the linker fragment in its linker script.
function(usmp_add_plan plan)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "MANIFEST;OUTPUT_DIR")
  set(call "usmp_add_plan(${plan})")
  _usmp_add_plan("${plan}")
endfunction()

# Do it.  Reads: call, arg_*.
function(_usmp_add_plan plan)
  _usmp_check_call(NEEDS MANIFEST ONE OUTPUT_DIR)
  _usmp_check_language()
  if(NOT plan MATCHES "^[A-Za-z0-9_.+-]+$")
    _usmp_fail("a plan's name is that of a target: letters, digits and any of \"_.+-\"")
  endif()
  _usmp_check_new_target("${plan}")
  _usmp_check_new_target("${plan}_gen")
  _usmp_get_tool(tool)

  _usmp_get_path(MANIFEST "${CMAKE_CURRENT_SOURCE_DIR}" manifest)
  if(NOT EXISTS "${manifest}" OR IS_DIRECTORY "${manifest}")
    _usmp_fail("there is no manifest \"${manifest}\"")
  endif()
  set(prune "")
  if(NOT DEFINED arg_OUTPUT_DIR)
    set(arg_OUTPUT_DIR "${plan}.usmp")
    set(prune ";--prune") # The folder is ours: after a rename, nothing should INCLUDE files with the old name.
  endif()
  _usmp_get_path(OUTPUT_DIR "${CMAKE_CURRENT_BINARY_DIR}" dir)
  _usmp_check_output_dir("${dir}")

  # Names of files follow from names in the manifest, so another manifest is another configuration.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${manifest}")
  _usmp_list_outputs("${tool}" "${manifest}" lines)
  _usmp_read_outputs("${lines}" project plan_files model_files models)
  _usmp_read_inputs("${lines}" "${manifest}" inputs)
  _usmp_read_regions("${lines}" regions)
  _usmp_read_libraries("${lines}" libraries)
  list(TRANSFORM plan_files PREPEND "${dir}/")

  _usmp_add_library(${plan} "${manifest}" ${plan_files})
  target_include_directories(${plan} PUBLIC "$<BUILD_INTERFACE:${dir}>")
  _usmp_link_math(${plan})
  target_link_libraries(${plan} PRIVATE ${libraries})
  add_dependencies(${plan} ${plan}_gen)
  if(NOT TARGET "usmp::${project}") # of several plans of one project, the first is called like that
    add_library("usmp::${project}" ALIAS ${plan})
  endif()

  set_target_properties(${plan} PROPERTIES
    USMP_PROJECT "${project}"
    USMP_DIR "${dir}"
    USMP_LINKER_FRAGMENT "${dir}/${project}.ld"
    USMP_COPY_TABLE "${dir}/${project}_copy_table.ld"
    USMP_PLAN_JSON "${dir}/plan.json"
    USMP_MODELS ""
    _USMP_GEN "${plan}_gen"
    _USMP_CALL "${call}"
    _USMP_CALLED_FROM "${CMAKE_CURRENT_LIST_FILE}"
    _USMP_MANIFEST "${manifest}"
    _USMP_REGIONS "${regions}"
    _USMP_LIBRARIES "${libraries}"
    _USMP_COMMAND "${tool};generate;${manifest};--out;${dir}${prune}"
    _USMP_REPORT "${tool};plan;${manifest}"
    _USMP_PAGE "${tool};report;${manifest};--out;${CMAKE_CURRENT_BINARY_DIR}/${plan}.html"
    _USMP_DEPENDS "${manifest}"
    _USMP_CONCURRENT ""
    _USMP_FILES "${plan_files}"
    _USMP_MODEL_FILES "${model_files}"
    _USMP_MANIFEST_MODELS "${models}"
    _USMP_MANIFEST_INPUTS "${inputs}"
    _USMP_STAMP "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${plan}.usmp.stamp"
    _USMP_FINISHED FALSE
  )
  _usmp_place_pools(${plan})
  _usmp_finish_later(${plan})
endfunction()

# Let whatever links a plan find its linker fragment, and link again when that changes.  A program for a board must
# INCLUDE it, if a pool names a region: else linkers place the pool by themselves, and say nothing.  And refuse programs
# that link two plans of one project, whose symbols are the same.
#
# Checked-in plans do the same: usmp_build/emitters/templates/usmp-targets.cmake.j2.
function(_usmp_place_pools plan)
  get_target_property(project ${plan} USMP_PROJECT)
  get_target_property(dir ${plan} USMP_DIR)
  get_target_property(fragment ${plan} USMP_LINKER_FRAGMENT)
  get_target_property(copy_table ${plan} USMP_COPY_TABLE)
  # Compilers hand a plain -L on before any script.  "-Wl,-L" would have to stand before "-Wl,-T", and a comma in the
  # path would split it; a link directory of CMake's would end up in the run path of the program.
  target_link_options(${plan} INTERFACE "$<BUILD_INTERFACE:-L${dir}>")
  _usmp_must_include(${plan} required)
  if(required AND CMAKE_C_COMPILER_ID MATCHES "^(GNU|Clang)$")
    set(checked "$<BOOL:$<TARGET_PROPERTY:_USMP_CHECK_OF_${project}>>")
    target_link_options(${plan} INTERFACE
      "$<BUILD_INTERFACE:$<$<NOT:${checked}>:LINKER:--defsym=__usmp.${project}=__usmp.INCLUDE_${project}.ld>>"
    )
  endif()
  set(linked "$<NOT:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,STATIC_LIBRARY>>") # Make would archive those of models again
  set_target_properties(${plan} PROPERTIES
    INTERFACE_LINK_DEPENDS "$<BUILD_INTERFACE:$<${linked}:${fragment}>>;$<BUILD_INTERFACE:$<${linked}:${copy_table}>>"
    COMPATIBLE_INTERFACE_STRING "USMP_ONLY_PLAN_OF_PROJECT_${project}"
    "INTERFACE_USMP_ONLY_PLAN_OF_PROJECT_${project}" "${plan}"
  )
  set_property(GLOBAL APPEND PROPERTY _USMP_ALL_PLANS "${plan}")
endfunction()

# Refuse a folder whose files a plan would overwrite: that of another plan, and one with a CMakeLists.txt of the project.
# Reads: call.
function(_usmp_check_output_dir dir)
  if(dir STREQUAL CMAKE_CURRENT_SOURCE_DIR OR dir STREQUAL CMAKE_SOURCE_DIR)
    _usmp_fail("OUTPUT_DIR \"${dir}\" is a source folder, whose CMakeLists.txt would be overwritten; choose another")
  endif()
  get_property(taken GLOBAL PROPERTY _USMP_OUTPUT_DIRS)
  if(dir IN_LIST taken)
    _usmp_fail("another plan generates into OUTPUT_DIR \"${dir}\"; choose another")
  endif()
  set_property(GLOBAL APPEND PROPERTY _USMP_OUTPUT_DIRS "${dir}")
endfunction()

# Ask the tool for the names of all files that it would generate, those of a model called "<model>" too, for the model
# files of the manifest, for the regions that its pools name, and for the libraries that its kernels call.  Return its
# lines as a list: "<owner><tab><file>", "<owner><tab><file><tab>input", "<pool><tab><region><tab>region",
# "<project><tab><library><tab>library".  Reads: call.
function(_usmp_list_outputs tool manifest result)
  execute_process(
    COMMAND ${tool} outputs "${manifest}" --any-model --inputs --regions --libraries
    WORKING_DIRECTORY "${CMAKE_BINARY_DIR}/CMakeFiles"
    OUTPUT_VARIABLE lines
    ERROR_VARIABLE errors
    RESULT_VARIABLE code
  )
  if(NOT code EQUAL 0)
    message(NOTICE "${errors}") # as it is: message(FATAL_ERROR) would break its lines
    _usmp_fail("usmp_build does not accept the manifest, see above")
  endif()
  # Input paths with ";", "[", "]" or "\" cannot be list elements; they are shown in IDEs only, so drop them.
  string(REGEX REPLACE "[^\n]*[][;\\][^\n]*\tinput\n" "" lines "${lines}")
  string(REGEX MATCHALL "[^\n]+" lines "${lines}")
  set(${result} "${lines}" PARENT_SCOPE)
endfunction()

# Read who owns which output: return the project, its files, those of "<model>", and the models of the manifest.
function(_usmp_read_outputs lines project plan_files model_files models)
  list(FILTER lines EXCLUDE REGEX "\t(input|region|library)$")
  set(owners "${lines}")
  list(TRANSFORM owners REPLACE "\t.*" "")
  list(REMOVE_DUPLICATES owners)
  list(POP_FRONT owners name) # the project comes first
  list(REMOVE_ITEM owners "<model>")
  set(${project} "${name}" PARENT_SCOPE)
  set(${models} "${owners}" PARENT_SCOPE)
  _usmp_files_of("${name}" "${lines}" files)
  set(${plan_files} "${files}" PARENT_SCOPE)
  _usmp_files_of("<model>" "${lines}" files)
  set(${model_files} "${files}" PARENT_SCOPE)
endfunction()

# Return the files of an owner.
function(_usmp_files_of owner lines result)
  list(FILTER lines INCLUDE REGEX "^${owner}\t")
  list(TRANSFORM lines REPLACE "^[^\t]*\t" "")
  set(${result} "${lines}" PARENT_SCOPE)
endfunction()

# Read the inputs: return the model files of the manifest, each as "<model>=<absolute path>".
function(_usmp_read_inputs lines manifest result)
  list(FILTER lines INCLUDE REGEX "\tinput$")
  cmake_path(GET manifest PARENT_PATH folder)
  set(inputs "")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([^\t]+)\t([^\t]+)" line "${line}")
    set(file "${CMAKE_MATCH_2}")
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${folder}" NORMALIZE)
    list(APPEND inputs "${CMAKE_MATCH_1}=${file}")
  endforeach()
  set(${result} "${inputs}" PARENT_SCOPE)
endfunction()

# Return the regions that pools name, each once.
function(_usmp_read_regions lines result)
  list(FILTER lines INCLUDE REGEX "\tregion$")
  list(TRANSFORM lines REPLACE "^[^\t]*\t([^\t]*)\t.*" "\\1")
  list(REMOVE_DUPLICATES lines)
  set(${result} "${lines}" PARENT_SCOPE)
endfunction()

# Return the libraries of the application that kernels call, which are targets.
function(_usmp_read_libraries lines result)
  list(FILTER lines INCLUDE REGEX "\tlibrary$")
  list(TRANSFORM lines REPLACE "^[^\t]*\t([^\t]*)\t.*" "\\1")
  set(${result} "${lines}" PARENT_SCOPE)
endfunction()
