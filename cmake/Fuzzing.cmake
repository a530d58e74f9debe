# entry_fuzz: the parser of the recipe cache's entries, on bytes that may come from anywhere (make fuzz).
#
# With libFuzzer where the compiler has it, else with a driver of our own.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_FLAGS "-fsanitize=fuzzer")
check_cxx_source_compiles("extern \"C\" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }"
  HPU_HAS_LIBFUZZER)
unset(CMAKE_REQUIRED_FLAGS)

# Compiled once more: with coverage, which tells inputs that reach something new.
add_library(hpu_fuzzed OBJECT EXCLUDE_FROM_ALL plugin/fuzz/entry_fuzz.cc plugin/store/entry.cc plugin/store/listing.cc)
target_link_libraries(hpu_fuzzed PUBLIC hpu_proto_recipe)
target_include_directories(hpu_fuzzed PUBLIC "${CMAKE_SOURCE_DIR}")
add_executable(entry_fuzz EXCLUDE_FROM_ALL $<TARGET_OBJECTS:hpu_fuzzed> $<TARGET_OBJECTS:hpu_proto_recipe>
  plugin/store/sha256.cc plugin/store/store_directory.cc)
target_include_directories(entry_fuzz PRIVATE "${CMAKE_SOURCE_DIR}")
target_link_libraries(entry_fuzz PRIVATE tensorflow Threads::Threads)
set_target_properties(entry_fuzz PROPERTIES BUILD_RPATH "${TENSORFLOW_DIR}")
if(HPU_HAS_LIBFUZZER)
  target_compile_options(hpu_fuzzed PRIVATE -fsanitize=fuzzer-no-link)
  target_link_options(entry_fuzz PRIVATE -fsanitize=fuzzer)
else()
  target_compile_options(hpu_fuzzed PRIVATE -fsanitize-coverage=trace-pc)
  target_sources(entry_fuzz PRIVATE plugin/fuzz/driver.cc)
endif()
