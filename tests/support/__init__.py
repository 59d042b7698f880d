"""What tests share.

- Any test: `cli` calls verbs, `verbs` has command lines of all and runs them without packages of tests, `processes`
  runs programs, `tools` says what is left out because tools are missing or because it takes long, `sample` draws the
  machines that each test runs on, `files` writes and changes files, `tree` knows and copies our source tree, and reads
  programs and models of tests/texts, `size` measures it.
- Builds: `cmake`, `bazel`, `bazel_files`, `checked_in` have projects of each build system; `models` changes models and
  knows what they answer, `platformio` runs PlatformIO; `host_c` compiles generated C for this machine; `tflm_headers`
  stand in for those of TensorFlow Lite Micro.  `warm` is the Python of most builds, which answers at once through
  `warm_client`.
- Trust: `checker` checks plans that tests make with our checker, `plan_drafts` writes plans for it by hand,
  `mutation` counts which changes of a part of our code its tests
  notice, `plant` makes a loaded module do what a changed text says.
- Reports: `report_pages` reads the pages of `usmp-build report`.
- Pages: `snippets` finds code in them, `shell` types their commands, `page_files` and `doorbell` set up what they speak
  of, `languages` knows the words of fences, `ci` what CI does that they tell readers to do, `operators_page` makes the
  page of operators.
- Packages: `archives` builds ours, `environments` are where it is installed, `packages` installs those of others,
  or stands in for one.
- Boards: `board_manifests` says which models are in which memories, `planned` plans once for all boards, `firmware`
  builds and runs on them, `mpu` reads registers of memory protection, `image` compares every tensor, `counting` counts
  what runs and is read, `board_accesses` compares that with the plan, `board_kernels` does both for models of one
  operator.  `linked_images` are of a small linker script, for any machine.
- Models and programs: `road` takes them as text, `small_models` has some, `rewriting` and `scopes` say what passes make
  of them, `flatfile` makes a file of a graph, `list_writes` is a loop that writes rows,
  `kernels` runs operators one by one, `cmsis_nn` stands in for CMSIS-NN, `access_traces` runs access declarations;
  `stateful`, `lstms` and `programs` draw models at random, `programs_c` has C of one, `parts` has models of
  concatenations and splits, `flatbuffer` writes files of them, `mutants` spoils them, as `spoiled_json` does programs
  and plans, `interpreter` runs a plan in bytes, `together` runs several at the same time, `directions` lets kernels run
  backward, `net` grows nets, `nets` are those of usual kinds, `large_nets` those for images, `drawn_nets`, `row_nets`
  and `firmwares` are random, `drawn_flow` draws loops and branches, `signal_models` operators for audio, `pictures` has
  nets from one to another, `remembering` has nets with a variable, `dead_channels` nets in which much is constant,
  `resized` images of several sizes, `uint8` makes of models of int8 what TensorFlow 1 would have made.
- Models that TVM imports: `tvm` runs a Python that has it, `tvm_models` writes models for it, and `tvm_reference`
  compares it with ONNX's own evaluator.
- Problems: `problems` states them in a few words, `drawn_problems` draws them, `brute_force` solves tiny ones by trying
  everything, `cases` and `shared_cases` have those of TVM.
"""
