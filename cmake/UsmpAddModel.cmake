# UsmpAddModel.cmake - the models of a plan

include_guard(GLOBAL)
cmake_policy(VERSION 3.22...4.1)

include("${CMAKE_CURRENT_LIST_DIR}/UsmpAddPlan.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/UsmpCall.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/UsmpLibrary.cmake")

# add_usmp_model(<name> PLAN <plan> [MODEL <file>] [WORKSPACE_POOLS <pool>...] [CONSTANT_POOLS <pool>...]
#                [CONCURRENT_WITH <model>...] [DEPENDS <target>...])
#
# Adds a model to a plan, and the library <name>, also called usmp::<name>, that runs it.  May be called from any
# folder, in any order.  What is said here goes before the manifest; without MODEL the manifest says where the model is.
# A MODEL that the build makes needs the target that makes it in DEPENDS.
function(add_usmp_model name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" ""
                        "PLAN;MODEL;WORKSPACE_POOLS;CONSTANT_POOLS;CONCURRENT_WITH;DEPENDS")
  set(call "add_usmp_model(${name})")
  _usmp_add_model("${name}")
endfunction()

# The same, under a name that begins as those of our other functions do.
function(usmp_add_model name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" ""
                        "PLAN;MODEL;WORKSPACE_POOLS;CONSTANT_POOLS;CONCURRENT_WITH;DEPENDS")
  set(call "usmp_add_model(${name})")
  _usmp_add_model("${name}")
endfunction()

# Do it.  Reads: call, arg_*.
function(_usmp_add_model name)
  _usmp_check_call(NEEDS PLAN ONE MODEL MANY WORKSPACE_POOLS CONSTANT_POOLS CONCURRENT_WITH DEPENDS)
  _usmp_get_plan("${arg_PLAN}" plan)
  _usmp_check_new_model("${name}" ${plan})

  set(arguments "--model=${name}")
  set(file "")
  _usmp_file_of_manifest(${plan} ${name} model_in_ide)
  if(DEFINED arg_MODEL)
    _usmp_get_path(MODEL "${CMAKE_CURRENT_SOURCE_DIR}" file)
    string(APPEND arguments "=${file}")
    set(model_in_ide "${file}")
  endif()
  _usmp_get_depends(${name} ${plan} "${file}" depends)
  if(DEFINED arg_DEPENDS OR NOT EXISTS "${model_in_ide}")
    set(model_in_ide "") # the build makes it, or the manifest is wrong
  endif()
  foreach(words "WORKSPACE_POOLS;--workspace-pools" "CONSTANT_POOLS;--constant-pools" "CONCURRENT_WITH;--concurrent")
    list(GET words 0 keyword)
    list(GET words 1 option)
    if(DEFINED arg_${keyword})
      if(arg_${keyword} MATCHES "[,=]")
        _usmp_fail("${keyword} takes names without \",\" and \"=\"; separate several by spaces")
      endif()
      list(JOIN arg_${keyword} "," names)
      list(APPEND arguments "${option}=${name}=${names}")
    endif()
  endforeach()

  get_target_property(dir ${plan} USMP_DIR)
  get_target_property(files ${plan} _USMP_MODEL_FILES)
  string(REPLACE "<model>" "${name}" files "${files}")
  list(TRANSFORM files PREPEND "${dir}/")
  set_property(TARGET ${plan} APPEND PROPERTY USMP_MODELS "${name}")
  set_property(TARGET ${plan} APPEND PROPERTY _USMP_ARGUMENTS "${arguments}")
  set_property(TARGET ${plan} APPEND PROPERTY _USMP_DEPENDS "${depends}")
  set_property(TARGET ${plan} APPEND PROPERTY _USMP_FILES "${files}")
  foreach(other IN LISTS arg_CONCURRENT_WITH)
    set_property(TARGET ${plan} APPEND PROPERTY _USMP_CONCURRENT "${name}=${other}")
  endforeach()

  _usmp_add_library(${name} "${model_in_ide}" ${files})
  set_target_properties(${name} PROPERTIES
    _USMP_PLAN ${plan}
    _USMP_CALL "${call}"
    _USMP_CALLED_FROM "${CMAKE_CURRENT_LIST_FILE}"
  )
  target_link_libraries(${name} PUBLIC ${plan})
  add_dependencies(${name} ${plan}_gen)
endfunction()

# Refuse a name that cannot be that of a new model of a plan, and a model without a file.
# Reads: call, arg_MODEL.
function(_usmp_check_new_model name plan)
  if(NOT name MATCHES "^[A-Za-z][A-Za-z0-9_]*$")
    _usmp_fail("a model's name becomes part of C identifiers: a letter, then letters, digits and underscores")
  endif()
  get_target_property(gen ${plan} _USMP_GEN)
  if(NOT gen)
    _usmp_fail("the files of plan \"${plan}\" are checked in; generate them again, with this model")
  endif()
  get_target_property(models ${plan} USMP_MODELS)
  foreach(other IN LISTS models)
    if(name STREQUAL other)
      _usmp_fail("plan \"${plan}\" has this model already")
    endif()
    string(TOLOWER "${name};${other}" both)
    list(REMOVE_DUPLICATES both)
    if(NOT both MATCHES ";")
      _usmp_fail("plan \"${plan}\" has a model \"${other}\", and case does not count: macros are in upper case")
    endif()
  endforeach()
  _usmp_check_model_of_other_plans(${name} ${plan})
  _usmp_check_new_target(${name})
  get_target_property(known ${plan} _USMP_MANIFEST_MODELS)
  if(NOT DEFINED arg_MODEL AND NOT name IN_LIST known)
    _usmp_fail("the manifest has no model \"${name}\"; say MODEL <file>, or add [models.${name}] with its path")
  endif()
  get_target_property(finished ${plan} _USMP_FINISHED)
  if(finished)
    _usmp_fail("plan \"${plan}\" is finished; add models while CMake reads CMakeLists.txt files")
  endif()
endfunction()

# Refuse the name of a model of another plan: a build has one target, and one header, of a name.
function(_usmp_check_model_of_other_plans name plan)
  if(NOT TARGET "${name}")
    return()
  endif()
  get_target_property(other "${name}" _USMP_PLAN)
  if(TARGET "${other}")
    get_target_property(theirs ${other} _USMP_MANIFEST)
    get_target_property(ours ${plan} _USMP_MANIFEST)
    string(CONCAT text "plan \"${other}\" of \"${theirs}\" has a model \"${name}\" already, and both would be one "
                       "target and one header; give [models.${name}] of \"${ours}\" another name")
    _usmp_fail("${text}")
  endif()
endfunction()

# Return the file of a model as the manifest says it, or nothing.
function(_usmp_file_of_manifest plan name result)
  get_target_property(inputs ${plan} _USMP_MANIFEST_INPUTS)
  list(FILTER inputs INCLUDE REGEX "^${name}=")
  list(TRANSFORM inputs REPLACE "^[^=]*=" "")
  set(${result} "${inputs}" PARENT_SCOPE)
endfunction()

# Return what a model depends on: of DEPENDS targets by name and files with their path, a target of ours that makes such
# files, and the model file if MODEL names one.  Reads: call, arg_DEPENDS.
function(_usmp_get_depends name plan file result)
  set(depends "")
  set(ours "${name};usmp::${name};${plan};usmp::${plan};${plan}_gen")
  foreach(item IN LISTS arg_DEPENDS)
    if(item IN_LIST ours)
      _usmp_fail("DEPENDS names \"${item}\", which needs the model itself; name what makes the model file")
    endif()
    if(NOT TARGET "${item}")
      foreach(folder "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_BINARY_DIR}")
        cmake_path(ABSOLUTE_PATH item BASE_DIRECTORY "${folder}" NORMALIZE OUTPUT_VARIABLE path)
        get_source_file_property(made "${path}" GENERATED)
        if(made OR EXISTS "${path}")
          set(item "${path}")
          break()
        endif()
      endforeach()
    endif()
    list(APPEND depends "${item}")
  endforeach()
  _usmp_get_maker(${name} "${depends}" "${file}" maker)
  list(APPEND depends ${maker})
  if(NOT file STREQUAL "")
    _usmp_is_known("${file}" known)
    if(known)
      list(APPEND depends "${file}")
    endif()
  endif()
  set(${result} "${depends}" PARENT_SCOPE)
endfunction()

# Return whether the build system will know the model file: it is there, or a command of this folder makes it or of one
# that has a target of DEPENDS.  A file that nothing is said to make is left to the depfile: Ninja would stop.
# Reads: call, arg_DEPENDS.
function(_usmp_is_known file result)
  get_source_file_property(made "${file}" GENERATED)
  foreach(item IN LISTS arg_DEPENDS)
    if(TARGET "${item}" AND NOT made)
      get_source_file_property(made "${file}" TARGET_DIRECTORY "${item}" GENERATED)
    endif()
  endforeach()
  if(made OR EXISTS "${file}")
    set(${result} TRUE PARENT_SCOPE)
  elseif(DEFINED arg_DEPENDS)
    set(${result} FALSE PARENT_SCOPE)
  else()
    _usmp_fail("there is no file \"${file}\"; if a target makes it, say DEPENDS <target>")
  endif()
endfunction()

# Return the target that makes the files of DEPENDS, else the model file, or nothing.  Where add_custom_command() makes
# them in this folder and no target of DEPENDS stands for that, a target of ours does: commands are known in the folder
# that has them, and the plan's is in another.  Only where DEPENDS names none is the model file itself asked for: it may
# be a by-product, for which Make has no rule.  Reads: call.
function(_usmp_get_maker name depends file result)
  set(${result} "" PARENT_SCOPE)
  set(files "")
  foreach(item IN LISTS depends file)
    if(NOT IS_ABSOLUTE "${item}")
      return()
    endif()
    get_source_file_property(made "${item}" GENERATED)
    if(made AND (NOT files OR NOT item STREQUAL file))
      list(APPEND files "${item}")
    endif()
  endforeach()
  if(files)
    _usmp_check_new_target("${name}_file")
    add_custom_target(${name}_file DEPENDS ${files})
    set(${result} ${name}_file PARENT_SCOPE)
  endif()
endfunction()

# usmp_add_manifest(<plan> MANIFEST <usmp.toml> [OUTPUT_DIR <folder>])
#
# usmp_add_plan(), and add_usmp_model() for each model of the manifest.
function(usmp_add_manifest plan)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "MANIFEST;OUTPUT_DIR")
  set(call "usmp_add_manifest(${plan})")
  _usmp_add_plan("${plan}")
  get_target_property(models ${plan} _USMP_MANIFEST_MODELS)
  set(arg_PLAN ${plan})
  foreach(model IN LISTS models)
    _usmp_add_model(${model})
  endforeach()
endfunction()
