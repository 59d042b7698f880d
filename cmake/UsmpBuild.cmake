# UsmpBuild.cmake - plan the memory of all models of a firmware, and build the C that comes of it
#
#   usmp_add_plan(<plan> MANIFEST <usmp.toml> [OUTPUT_DIR <folder>])
#   add_usmp_model(<name> PLAN <plan> [MODEL <file>] [WORKSPACE_POOLS <pool>...] [CONSTANT_POOLS <pool>...]
#                  [CONCURRENT_WITH <model>...] [DEPENDS <target>...])     also called usmp_add_model()
#   usmp_add_manifest(<plan> MANIFEST <usmp.toml> [OUTPUT_DIR <folder>])
#   usmp_link_pools(<target> <plan> [CHECK | NO_CHECK])
#   usmp_zephyr(<plan>)
#
# docs/build-systems.md explains them.  find_package(usmp_build) includes this file; it may be included alone, too.
#
# How it works.  One command plans all models of a plan together, so it must know all of them, whichever folder adds
# them: each add_usmp_model() leaves its model in properties of the plan, and the command is made when CMake has read
# the last folder (UsmpGenerate.cmake).  It is made in the top folder, the only one that is still open then.

include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/UsmpAddPlan.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/UsmpAddModel.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/UsmpLinkPools.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/integrations/zephyr.cmake")
