"""What tests share.

- Any test: `cli` calls verbs, `processes` runs programs, `tools` skips a test whose tools are missing, `files` writes
  and changes files, `tree` copies our source tree.
- Builds: `cmake`, `bazel`, `checked_in` have projects of each build system; `models` changes models and knows what they
  answer; `host_c` compiles a program of one main for this machine.
- Pages: `snippets` finds code in them, `shell` types their commands, `page_files` and `doorbell` set up what they speak
  of, `languages` knows the words of fences, `ci` what CI does that they tell readers to do.
- Packages: `archives` builds ours, `environments` are where it is installed, `packages` installs those of others.
- Boards: `firmware` builds and runs on them, `planned` plans once for all of them, `image` compares every tensor,
  `counting` counts what runs and is read.
- Models and programs: `road` takes them as text, `stateful` and `programs` draw them at random, `programs_c` has C of
  one, `parts` has models of concatenations and splits, `flatbuffer` writes files of them, `mutants` spoils them,
  `interpreter` runs a plan in bytes, `together` runs several at the same time, `directions` lets kernels run backward,
  `net` grows nets, `nets` are those of usual kinds, `drawn_nets` and `firmwares` are random, `remembering` has nets
  with a variable, `dead_channels` nets in which much is constant.
- Problems: `problems` states them in a few words, `cases` and `shared_cases` have those of TVM.
"""
