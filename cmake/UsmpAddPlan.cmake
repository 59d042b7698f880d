# UsmpAddPlan.cmake - plan the memory of all models of a firmware, and build the C that comes of it
#
#   usmp_add_plan(<plan> MANIFEST <usmp.toml> [OUTPUT_DIR <folder>])
#   add_usmp_model(<name> PLAN <plan> [MODEL <file>] [DEPENDS <target>...])
#   usmp_add_manifest(<plan> MANIFEST <usmp.toml> [OUTPUT_DIR <folder>])
#   usmp_link_pools(<target> <plan> [CHECK])
#
# docs/cmake.md explains them.  find_package(usmp_build) includes this file; it may be included alone, too.
#
# How it works.  One command plans all models of a plan together, so it must know all of them, whichever folder adds
# them: each add_usmp_model() leaves its model in properties of the plan, and the command is made when CMake has read
# the last folder.  It is made in the top folder, the only one that is still open then.

include_guard(GLOBAL)
cmake_policy(VERSION 3.22...4.1)

include("${CMAKE_CURRENT_LIST_DIR}/UsmpTool.cmake")

# usmp_add_plan(<plan> MANIFEST <usmp.toml> [OUTPUT_DIR <folder>])
#
# Adds the library <plan>, also called usmp::<plan>: the pools and kernels of all models that name it.  The files are
# generated into OUTPUT_DIR, by default <plan>.usmp in the build tree.  Properties of <plan>:
#
#   USMP_PROJECT          the manifest's project, which is the prefix of files and symbols
#   USMP_DIR              the folder of the generated files
#   USMP_LINKER_FRAGMENT  the linker fragment
#   USMP_COPY_TABLE       the fragment of the start-up code's copy table
#   USMP_PLAN_JSON        the plan for other programs
#   USMP_MODELS           the models so far
function(usmp_add_plan plan)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MANIFEST;OUTPUT_DIR" "")
  set(call "usmp_add_plan(${plan})")
  _usmp_check_call(MANIFEST)
  _usmp_check_new_target(${plan})
  _usmp_get_tool(tool)

  cmake_path(ABSOLUTE_PATH arg_MANIFEST NORMALIZE OUTPUT_VARIABLE manifest)
  if(NOT EXISTS "${manifest}" OR IS_DIRECTORY "${manifest}")
    _usmp_fail("there is no manifest ${manifest}")
  endif()
  if(NOT arg_OUTPUT_DIR)
    set(arg_OUTPUT_DIR "${plan}.usmp")
  endif()
  cmake_path(ABSOLUTE_PATH arg_OUTPUT_DIR BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE OUTPUT_VARIABLE dir)

  # Names of files follow from names in the manifest, so another manifest is another configuration.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${manifest}")
  _usmp_list_outputs("${manifest}" project plan_files model_files models)

  _usmp_add_library(${plan} "${dir}/${project}_kernels.c" "${dir}/${project}_pools.c")
  target_include_directories(${plan} PUBLIC "${dir}")
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU" OR UNIX)
    target_link_libraries(${plan} PRIVATE -lm) # for floating-point operators; unused otherwise
  endif()
  add_dependencies(${plan} ${plan}_gen)

  list(TRANSFORM plan_files PREPEND "${dir}/")
  set_target_properties(${plan} PROPERTIES
    USMP_PROJECT "${project}"
    USMP_DIR "${dir}"
    USMP_LINKER_FRAGMENT "${dir}/${project}.ld"
    USMP_COPY_TABLE "${dir}/${project}_copy_table.ld"
    USMP_PLAN_JSON "${dir}/plan.json"
    USMP_MODELS ""
    _USMP_COMMAND "${tool};generate;${manifest};--out;${dir}"
    _USMP_DEPENDS "${manifest}"
    _USMP_FILES "${plan_files}"
    _USMP_MODEL_FILES "${model_files}"
    _USMP_MANIFEST_MODELS "${models}"
    _USMP_STAMP "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${plan}.usmp.stamp"
    _USMP_FINISHED FALSE
  )
  set_property(GLOBAL APPEND PROPERTY _USMP_PLANS ${plan})
  cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL _usmp_finish_plans)
endfunction()

# add_usmp_model(<name> PLAN <plan> [MODEL <file>] [DEPENDS <target>...])
#
# Adds a model to a plan, and the library <name>, also called usmp::<name>, that runs it.  May be called from any
# folder, in any order.  Without MODEL the manifest says where the model is.  A MODEL that the build makes needs the
# target that makes it in DEPENDS.
function(add_usmp_model name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PLAN;MODEL" "DEPENDS")
  set(call "add_usmp_model(${name})")
  _usmp_check_call(PLAN)
  _usmp_get_plan("${arg_PLAN}" plan)
  get_target_property(models ${plan} USMP_MODELS)
  if(name IN_LIST models)
    _usmp_fail("plan ${plan} has this model already")
  endif()
  if(NOT name MATCHES "^[A-Za-z][A-Za-z0-9_]*$")
    _usmp_fail("a model's name becomes part of C identifiers: a letter, then letters, digits and underscores")
  endif()
  _usmp_check_new_target(${name})
  get_target_property(finished ${plan} _USMP_FINISHED)
  if(finished)
    _usmp_fail("plan ${plan} is finished; add models while CMake reads CMakeLists.txt files")
  endif()

  set(model ${name})
  set(depends ${arg_DEPENDS})
  if(arg_MODEL)
    cmake_path(ABSOLUTE_PATH arg_MODEL NORMALIZE OUTPUT_VARIABLE file)
    if(NOT EXISTS "${file}" AND NOT arg_DEPENDS)
      _usmp_fail("there is no file ${file}; if a target makes it, say DEPENDS <target>")
    endif()
    string(APPEND model "=${file}")
    list(APPEND depends "${file}")
  endif()
  get_target_property(dir ${plan} USMP_DIR)
  get_target_property(files ${plan} _USMP_MODEL_FILES)
  string(REPLACE "<model>" "${name}" files "${files}")
  list(TRANSFORM files PREPEND "${dir}/")
  set_property(TARGET ${plan} APPEND PROPERTY USMP_MODELS "${name}")
  set_property(TARGET ${plan} APPEND PROPERTY _USMP_ARGUMENTS "--model=${model}")
  set_property(TARGET ${plan} APPEND PROPERTY _USMP_DEPENDS "${depends}")
  set_property(TARGET ${plan} APPEND PROPERTY _USMP_FILES "${files}")

  _usmp_add_library(${name} "${dir}/${name}.c")
  target_link_libraries(${name} PUBLIC ${plan})
  add_dependencies(${name} ${plan}_gen)
endfunction()

# usmp_add_manifest(<plan> MANIFEST <usmp.toml> [OUTPUT_DIR <folder>])
#
# usmp_add_plan(), and add_usmp_model() for each model of the manifest.
function(usmp_add_manifest plan)
  usmp_add_plan(${plan} ${ARGN})
  get_target_property(models ${plan} _USMP_MANIFEST_MODELS)
  foreach(model IN LISTS models)
    add_usmp_model(${model} PLAN ${plan})
  endforeach()
endfunction()

# usmp_link_pools(<target> <plan> [CHECK])
#
# Lets the linker script of an executable INCLUDE the plan's linker fragment, and links again when it changes.
# Without a linker script it does nothing that could be seen.
#
# With CHECK, every link is followed by `usmp-build check`: an image in which a pool is not as planned is an error.
function(usmp_link_pools target plan)
  cmake_parse_arguments(PARSE_ARGV 2 arg "CHECK" "" "")
  set(call "usmp_link_pools(${target} ${plan})")
  _usmp_check_call()
  if(NOT TARGET ${target})
    _usmp_fail("there is no target ${target} yet")
  endif()
  get_target_property(aliased ${target} ALIASED_TARGET)
  if(aliased)
    set(target ${aliased})
  endif()
  _usmp_get_plan("${plan}" plan)
  get_target_property(dir ${plan} USMP_DIR)
  get_target_property(fragment ${plan} USMP_LINKER_FRAGMENT)
  get_target_property(copy_table ${plan} USMP_COPY_TABLE)
  # Compilers hand a plain -L on before any script.  "-Wl,-L" would have to stand before "-Wl,-T", and a comma in the
  # path would split it; a link directory of CMake's would end up in the run path of the program.
  target_link_options(${target} PRIVATE "-L${dir}")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${fragment}" "${copy_table}")
  add_dependencies(${target} ${plan}_gen)
  if(arg_CHECK)
    _usmp_check_image(${target} ${plan})
  endif()
endfunction()

# Check an executable after every link, and link again when the plan changes.
function(_usmp_check_image target plan)
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL "EXECUTABLE")
    _usmp_fail("CHECK reads the image of an executable, which ${target} is not")
  endif()
  get_target_property(folder ${target} SOURCE_DIR)
  if(NOT folder STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    _usmp_fail("CHECK can be said only in the folder that adds ${target}, ${folder}")
  endif()
  _usmp_get_tool(tool)
  get_target_property(json ${plan} USMP_PLAN_JSON)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${json}")
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${tool} check "${json}" --elf "$<TARGET_FILE:${target}>"
    COMMENT "Checking the pools of ${target}"
    VERBATIM
  )
endfunction()

# ------------------------------------------------------------------------------------------ the command that generates

# Make the command of every plan that has none yet; CMake calls this at the end of the top folder.
function(_usmp_finish_plans)
  get_property(plans GLOBAL PROPERTY _USMP_PLANS)
  set_property(GLOBAL PROPERTY _USMP_PLANS "")
  foreach(plan IN LISTS plans)
    _usmp_finish_plan(${plan})
  endforeach()
endfunction()

# Make the target <plan>_gen, which generates all files of a plan.
#
# Its output is a stamp.  The generated files are written only if they change, so they may be older than what they are
# made of, and Make would run a command for them in every build.  Ninja takes them as by-products.  Make does not watch
# by-products; there the stamp depends on the files instead, each with a rule that does nothing.  Either way a file
# that was deleted is generated again.
function(_usmp_finish_plan plan)
  foreach(property COMMAND ARGUMENTS DEPENDS FILES STAMP)
    get_target_property(${property} ${plan} _USMP_${property})
  endforeach()
  get_target_property(dir ${plan} USMP_DIR)
  get_target_property(models ${plan} USMP_MODELS)
  if(NOT models)
    set(call "usmp_add_plan(${plan})")
    _usmp_fail("no add_usmp_model() adds a model to this plan")
  endif()
  set_target_properties(${plan} PROPERTIES _USMP_FINISHED TRUE)
  # The order of calls is nobody's business: not even the command line shows it.
  list(SORT ARGUMENTS)
  list(SORT models)
  list(JOIN models ", " names)

  set(byproducts BYPRODUCTS ${FILES})
  set(forget "")
  if(CMAKE_GENERATOR MATCHES "Makefiles")
    foreach(file IN LISTS FILES)
      add_custom_command(OUTPUT "${file}" COMMAND "${CMAKE_COMMAND}" -E true COMMENT "" VERBATIM)
    endforeach()
    set(byproducts "")
    list(APPEND DEPENDS ${FILES})
    # CMake 3.25 adds up all that a depfile ever named: after a model was renamed it would plan in every build.
    set(cache "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${plan}_gen.dir/compiler_depend.internal")
    set(forget COMMAND "${CMAKE_COMMAND}" -E rm -f "${cache}")
  endif()

  # CMake before 4.4 garbles "#" and "$" on the way from a depfile to Ninja, which would then plan in every build.  Where
  # every model's file is named here, a depfile would only add the files of usmp_build.
  set(depfile DEPFILE "${STAMP}.d")
  set(unnamed ${ARGUMENTS})
  list(FILTER unnamed EXCLUDE REGEX "^--model=[^=]*=")
  if(CMAKE_GENERATOR MATCHES "Ninja" AND CMAKE_VERSION VERSION_LESS 4.4 AND DEPENDS MATCHES "[#$]" AND NOT unnamed)
    set(depfile "")
  endif()

  add_custom_command(
    OUTPUT "${STAMP}" ${byproducts}
    COMMAND ${COMMAND} ${ARGUMENTS} --depfile "${STAMP}.d" --depfile-target "${STAMP}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${STAMP}"
    ${forget}
    DEPENDS ${DEPENDS}
    ${depfile}
    WORKING_DIRECTORY "${CMAKE_BINARY_DIR}/CMakeFiles"
    COMMENT "Planning the memory of ${names}"
    VERBATIM
  )
  add_custom_target(${plan}_gen DEPENDS "${STAMP}")
endfunction()

# Add a static library of generated C files.
function(_usmp_add_library name)
  add_library(${name} STATIC ${ARGN})
  add_library(usmp::${name} ALIAS ${name})
  set_source_files_properties(${ARGN} PROPERTIES GENERATED TRUE)
  if(CMAKE_C_COMPILE_FEATURES) # CMake does not know those of every compiler
    target_compile_features(${name} PRIVATE c_std_99)
  endif()
endfunction()

# Ask the tool for the names of all files that it would generate.
function(_usmp_list_outputs manifest project plan_files model_files models)
  execute_process(
    COMMAND ${tool} outputs "${manifest}" --any-model
    WORKING_DIRECTORY "${CMAKE_BINARY_DIR}/CMakeFiles"
    OUTPUT_VARIABLE lines
    ERROR_VARIABLE errors
    RESULT_VARIABLE result
  )
  if(NOT result EQUAL 0)
    message(NOTICE "${errors}") # as it is: message(FATAL_ERROR) would break its lines
    _usmp_fail("usmp_build does not accept the manifest, see above")
  endif()
  string(REGEX MATCHALL "[^\n]+" lines "${lines}")
  set(owners "")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([^\t]+)\t(.+)$" line "${line}")
    list(APPEND owners "${CMAKE_MATCH_1}")
    list(APPEND "_usmp_files_of_${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}")
  endforeach()
  list(REMOVE_DUPLICATES owners)
  list(POP_FRONT owners name pattern)
  set(${project} "${name}" PARENT_SCOPE)
  set(${plan_files} "${_usmp_files_of_${name}}" PARENT_SCOPE)
  set(${model_files} "${_usmp_files_of_${pattern}}" PARENT_SCOPE)
  set(${models} "${owners}" PARENT_SCOPE)
endfunction()

# Return the command line of the tool, or stop.
function(_usmp_get_tool result)
  _usmp_find_tool(problem)
  if(problem)
    _usmp_fail("${problem}")
  endif()
  get_property(tool GLOBAL PROPERTY _USMP_TOOL)
  set(${result} "${tool}" PARENT_SCOPE)
endfunction()

# --------------------------------------------------------------------------------------------------------- wrong calls
# These read the variables `call` and `arg_*` of the function that calls them.

function(_usmp_fail text)
  message(FATAL_ERROR "${call}: ${text}")
endfunction()

# Refuse arguments that no keyword takes, and keywords without a value.
function(_usmp_check_call)
  if(arg_UNPARSED_ARGUMENTS)
    list(JOIN arg_UNPARSED_ARGUMENTS " " rest)
    _usmp_fail("unknown argument: ${rest}")
  endif()
  foreach(keyword IN LISTS ARGN arg_KEYWORDS_MISSING_VALUES)
    if(NOT arg_${keyword})
      _usmp_fail("${keyword} needs a value")
    endif()
  endforeach()
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "C" IN_LIST languages)
    _usmp_fail("the generated code is C, which this project does not enable; write project(... LANGUAGES C)")
  endif()
endfunction()

function(_usmp_check_new_target name)
  if(TARGET ${name})
    _usmp_fail("there is another target ${name}; choose another name")
  endif()
endfunction()

# Return the true name of a plan.
function(_usmp_get_plan name result)
  set(project "")
  set(alias "")
  if(TARGET "${name}")
    get_target_property(project "${name}" USMP_PROJECT)
    get_target_property(alias "${name}" ALIASED_TARGET)
  endif()
  if(NOT project)
    _usmp_fail("there is no plan ${name}; call usmp_add_plan(${name} ...) before")
  endif()
  if(alias)
    set(name "${alias}")
  endif()
  set(${result} "${name}" PARENT_SCOPE)
endfunction()
