# tests.cmake - the application reads its pictures; and whoever trespasses is caught

function(expect name text)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
  set_tests_properties(${name} PROPERTIES PASS_REGULAR_EXPRESSION "${text}" TIMEOUT 60)
endfunction()

expect(reads_digits "0, even +3, odd +6, even +9, odd.*2, even +5, odd +8, even +1, odd" firmware)

# What follows the program on the command line are options of QEMU, and -append is the program's command line.
add_firmware(trespass trespass.c)
expect(write_behind_a_pool "write to 0x[0-9a-f]+: [0-9]+ bytes? past the end of pool dtcm" trespass -append behind)
expect(write_before_a_pool "write to 0x[0-9a-f]+: 1 byte before pool dtcm" trespass -append before)
expect(write_constants "write to 0x[0-9a-f]+: 0 bytes into pool itcm, which is read only" trespass -append constant)
expect(execute_a_pool "execute at 0x[0-9a-f]+: 0 bytes into pool dtcm, which is no code" trespass -append execute)
expect(read_from_nowhere "read from 0xa0000000: in no pool, and near none" trespass -append nowhere)
expect(overflow_the_stack "to 0x[0-9a-f]+: [0-9]+ bytes below the stack: it overflowed" trespass -append stack)
