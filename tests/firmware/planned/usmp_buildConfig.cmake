# Stands in for the package where a test has planned and generated already: the files are in `generated`, beside the
# manifest.  So that a plan that six boards share is made once.

function(usmp_add_manifest plan)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MANIFEST" "")
  cmake_path(GET arg_MANIFEST PARENT_PATH folder)
  add_subdirectory("${folder}/generated" generated)
  add_library(${plan} ALIAS firmware_usmp)
endfunction()
