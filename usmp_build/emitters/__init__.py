"""Layout → files: C, linker fragment, CMake, plan.json.  Templates set the type; all decisions came before."""
