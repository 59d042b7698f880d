# UsmpGenerate.cmake - the command that plans all models of a plan and generates their files
#
# It can be made only when all models are known, and in a folder that is still open then: CMake calls
# _usmp_finish_plans() at the end of the top folder, after all others.
#
# Then all targets are there, too, so that what they link can be looked at.

include_guard(GLOBAL)
cmake_policy(VERSION 3.22...4.1)

include("${CMAKE_CURRENT_LIST_DIR}/UsmpCall.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/UsmpInstructions.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/UsmpOptions.cmake")

# Let the command of a plan be made when CMake has read all folders.
function(_usmp_finish_later plan)
  set_property(GLOBAL APPEND PROPERTY _USMP_PLANS ${plan})
  cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL _usmp_finish_plans)
endfunction()

# Make the command of every plan that has none yet.
function(_usmp_finish_plans)
  get_property(plans GLOBAL PROPERTY _USMP_PLANS)
  set_property(GLOBAL PROPERTY _USMP_PLANS "")
  foreach(plan IN LISTS plans)
    _usmp_finish_plan(${plan})
  endforeach()
  if(plans)
    _usmp_check_links("${CMAKE_SOURCE_DIR}" "")
  endif()
endfunction()

# Make the target <plan>_gen, which generates all files of a plan.
#
# Its output is a stamp.  The generated files are written only if they change, so they may be older than what they are
# made of, and Make would run a command for them in every build.  Ninja takes them as by-products.
function(_usmp_finish_plan plan)
  get_target_property(command ${plan} _USMP_COMMAND)
  get_target_property(arguments ${plan} _USMP_ARGUMENTS)
  get_target_property(depends ${plan} _USMP_DEPENDS)
  get_target_property(files ${plan} _USMP_FILES)
  get_target_property(stamp ${plan} _USMP_STAMP)
  get_target_property(models ${plan} USMP_MODELS)
  get_target_property(call ${plan} _USMP_CALL)
  get_target_property(called_from ${plan} _USMP_CALLED_FROM)
  _usmp_check_plan(${plan} "${models}" "${depends}")
  set_target_properties(${plan} PROPERTIES _USMP_FINISHED TRUE)
  list(SORT arguments) # Sorted, so that order does not matter.
  _usmp_take_options(${plan} taken)
  _usmp_get_processor(${plan} "${taken}" processor)
  if(processor STREQUAL "")
    set(processor portable)
  endif()
  list(APPEND arguments "--isa=${processor}")
  _usmp_write_arguments(${plan} "${arguments}")
  list(SORT models)
  list(JOIN models ", " names)

  cmake_policy(PUSH) # Ninja may need another CMP0116
  set(depfile "${stamp}.d")
  set(stamp_in_depfile "${stamp}")
  set(forget "")
  set(codegen "")
  set(all "")
  if(CMAKE_GENERATOR MATCHES "Makefiles")
    _usmp_watch_with_make("${files}")
    _usmp_forget_depfile_of_make(${plan} forget)
    list(APPEND depends ${files})
    set(files "")
  elseif(CMAKE_GENERATOR MATCHES "Ninja")
    _usmp_name_depfile_for_ninja("${stamp}" depfile stamp_in_depfile)
    _usmp_join_codegen_of_ninja(${plan} codegen all)
  endif()

  add_custom_command(
    OUTPUT "${stamp}"
    BYPRODUCTS ${files}
    COMMAND ${command} ${arguments} --depfile "${stamp}.d" --depfile-target "${stamp_in_depfile}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
    ${forget}
    DEPENDS ${depends}
    DEPFILE "${depfile}"
    WORKING_DIRECTORY "${CMAKE_BINARY_DIR}/CMakeFiles"
    COMMENT "Planning the memory of ${names}"
    VERBATIM
    ${codegen}
  )
  _usmp_check_new_target("${plan}_gen")
  add_custom_target(${plan}_gen ${all} DEPENDS "${stamp}")
  cmake_policy(POP)
  _usmp_add_report(${plan} _report _USMP_REPORT "The plan of ${plan}" "${arguments}")
  _usmp_add_report(${plan} _page _USMP_PAGE "Writing ${plan}.html" "${arguments}")
endfunction()

# Write what a plan is made of beside the folder of its files, so that `usmp-build explain TENSOR <folder>` and the like
# plan as the build does.  A folder in the source tree has no such file: it would name paths of this machine.
function(_usmp_write_arguments plan arguments)
  get_target_property(dir ${plan} USMP_DIR)
  get_target_property(manifest ${plan} _USMP_MANIFEST)
  cmake_path(IS_PREFIX CMAKE_BINARY_DIR "${dir}" in_build_tree)
  if(in_build_tree)
    list(JOIN arguments "\n" lines)
    file(GENERATE OUTPUT "${dir}.args" CONTENT "${lines}\n--\n${manifest}\n")
  endif()
endfunction()

# Make a target that shows the plan: <plan>_report as `usmp-build plan` does, <plan>_page as `usmp-build report`.  A
# target of the project that is called so comes first.
function(_usmp_add_report plan suffix property comment arguments)
  if(TARGET "${plan}${suffix}")
    return()
  endif()
  get_target_property(command ${plan} ${property})
  get_target_property(depends ${plan} _USMP_DEPENDS)
  add_custom_target(${plan}${suffix}
    COMMAND ${command} ${arguments}
    WORKING_DIRECTORY "${CMAKE_BINARY_DIR}/CMakeFiles"
    COMMENT "${comment}"
    USES_TERMINAL
    VERBATIM
  )
  foreach(item IN LISTS depends)
    if(TARGET "${item}") # it makes a model file
      add_dependencies(${plan}${suffix} "${item}")
    endif()
  endforeach()
endfunction()

# Refuse links to a library "usmp::..." that nothing adds, and say which there are: CMake would not.  What is imported is
# seen only from its folder, and from those below.
function(_usmp_check_links folder imported)
  get_property(here DIRECTORY "${folder}" PROPERTY IMPORTED_TARGETS)
  list(APPEND imported ${here})
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    list(FILTER libraries INCLUDE REGEX "^usmp::[A-Za-z0-9_.+-]+$")
    foreach(library IN LISTS libraries)
      if(NOT TARGET "${library}" AND NOT library IN_LIST imported)
        _usmp_list_libraries(there)
        set(text "\"${target}\" links ${library}, which is no model and no plan; there is ${there}")
        _usmp_show_error(SEND_ERROR "target_link_libraries(${target})" "${folder}/CMakeLists.txt" "${text}")
      endif()
    endforeach()
  endforeach()
  get_property(below DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(folder IN LISTS below)
    _usmp_check_links("${folder}" "${imported}")
  endforeach()
endfunction()

# Return the names that a program may link, of all plans and models so far.
function(_usmp_list_libraries result)
  get_property(plans GLOBAL PROPERTY _USMP_ALL_PLANS)
  set(names ${plans})
  foreach(plan IN LISTS plans)
    get_target_property(models ${plan} USMP_MODELS)
    list(APPEND names ${models})
  endforeach()
  list(TRANSFORM names REPLACE "^usmp::" "") # so are checked-in plans called
  list(TRANSFORM names PREPEND "usmp::")
  list(SORT names)
  list(JOIN names ", " names)
  set(${result} "${names}" PARENT_SCOPE)
endfunction()

# Refuse a plan without models, and calls that name what is not there now that all is.  Reads: call.
function(_usmp_check_plan plan models depends)
  if(models STREQUAL "")
    _usmp_fail("no add_usmp_model() adds a model to this plan")
  endif()
  get_target_property(libraries ${plan} _USMP_LIBRARIES)
  foreach(library IN LISTS libraries)
    if(NOT TARGET "${library}")
      _usmp_fail("its kernels call \"${library}\", which is no target; add that library, for example by add_subdirectory()")
    endif()
  endforeach()
  get_target_property(pairs ${plan} _USMP_CONCURRENT)
  foreach(pair IN LISTS pairs)
    string(REGEX MATCH "^(.*)=(.*)$" pair "${pair}")
    if(NOT CMAKE_MATCH_2 IN_LIST models)
      set(other "${CMAKE_MATCH_2}")
      get_target_property(call ${CMAKE_MATCH_1} _USMP_CALL)
      get_target_property(called_from ${CMAKE_MATCH_1} _USMP_CALLED_FROM)
      _usmp_fail("CONCURRENT_WITH names \"${other}\", which is no model of plan \"${plan}\"")
    endif()
  endforeach()
  foreach(item IN LISTS depends)
    if(NOT TARGET "${item}" AND NOT IS_ABSOLUTE "${item}")
      _usmp_fail("DEPENDS of one of its models names \"${item}\", which is neither a target nor a file")
    endif()
  endforeach()
endfunction()

# Make does not watch by-products.  So the stamp is to depend on the generated files, each with a rule that does nothing:
# as with Ninja, a file that was deleted is generated again.
function(_usmp_watch_with_make files)
  foreach(file IN LISTS files)
    add_custom_command(OUTPUT "${file}" COMMAND "${CMAKE_COMMAND}" -E true COMMENT "" VERBATIM)
  endforeach()
endfunction()

# Return what makes Make forget earlier depfiles.  CMake 3.25 adds up all that they ever named: after a model was renamed
# it would plan in every build.
function(_usmp_forget_depfile_of_make plan result)
  set(cache "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${plan}_gen.dir/compiler_depend.internal")
  set(${result} COMMAND "${CMAKE_COMMAND}" -E rm -f "${cache}" PARENT_SCOPE)
endfunction()

# Return how to pass the depfile to Ninja, and what it should call the stamp.  CMake before 4.4 garbles "#" and "$"
# on the way from a depfile to Ninja, which would then plan in every build.  Ninja can read the depfile as it is, if that
# calls the stamp as Ninja does.  Sets: policy CMP0116 of the caller.
function(_usmp_name_depfile_for_ninja stamp depfile stamp_in_depfile)
  if(CMAKE_VERSION VERSION_LESS 4.4)
    set(CMAKE_WARN_DEPRECATED OFF)
    cmake_policy(SET CMP0116 OLD)
    string(REPLACE "$" "$$" escaped "${stamp}.d")
    cmake_path(RELATIVE_PATH stamp BASE_DIRECTORY "${CMAKE_BINARY_DIR}")
    set(${depfile} "${escaped}" PARENT_SCOPE)
    set(${stamp_in_depfile} "${stamp}" PARENT_SCOPE)
  endif()
endfunction()

# Return the words that make the command part of the target "codegen", which CMake has from 3.31 on.  With Ninja that has
# commands that say so, where a target of "all" has them; with Make it has what libraries depend on, and what says so
# beside that would run twice at once.
function(_usmp_join_codegen_of_ninja plan codegen all)
  get_target_property(excluded ${plan} EXCLUDE_FROM_ALL)
  if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.31 AND NOT excluded)
    set(${codegen} CODEGEN PARENT_SCOPE)
    set(${all} ALL PARENT_SCOPE)
  endif()
endfunction()
