# Stands in for the package where a test has planned and generated already: the files are in `generated`, beside the
# manifest.  So that a plan that six boards share is made once.

function(usmp_add_manifest plan)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MANIFEST" "")
  # Some images are of hundreds of libraries: their archives hold names of objects, and need one process each.
  set(CMAKE_C_ARCHIVE_CREATE "<CMAKE_AR> qcsT <TARGET> <OBJECTS>")
  set(CMAKE_C_ARCHIVE_FINISH "")
  cmake_path(GET arg_MANIFEST PARENT_PATH folder)
  add_subdirectory("${folder}/generated" generated)
  add_library(${plan} ALIAS firmware_usmp)
endfunction()
