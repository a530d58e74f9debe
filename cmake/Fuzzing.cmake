# entry_fuzz: fuzzer of the parsers of recipe cache entries and of their recipes (make fuzz). Uses libFuzzer if the compiler supports
# libFuzzer, otherwise the driver in plugin/testing/fuzz.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_FLAGS "-fsanitize=fuzzer")
check_cxx_source_compiles("extern \"C\" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }"
  HPU_HAS_LIBFUZZER)
unset(CMAKE_REQUIRED_FLAGS)

# Separate objects with coverage instrumentation, which shows whether an input reaches new code.
add_library(hpu_fuzzed OBJECT EXCLUDE_FROM_ALL plugin/testing/fuzz/entry_fuzz.cc plugin/recipes/entry.cc plugin/recipes/listing.cc
  plugin/program/recipe_container.cc plugin/program/table_message.cc)
target_link_libraries(hpu_fuzzed PUBLIC hpu_proto_recipe)
target_include_directories(hpu_fuzzed PUBLIC "${CMAKE_SOURCE_DIR}")
add_executable(entry_fuzz EXCLUDE_FROM_ALL $<TARGET_OBJECTS:hpu_fuzzed> $<TARGET_OBJECTS:hpu_proto_recipe>
  plugin/base/files/make_directories.cc plugin/compat/sha256.cc "${TENSORFLOW_COMPAT_DIR}/protobuf_silence.cc" plugin/hal/types.cc plugin/recipes/store_directory.cc)
target_include_directories(entry_fuzz PRIVATE "${CMAKE_SOURCE_DIR}")
target_link_libraries(entry_fuzz PRIVATE tensorflow hpu_proto_recipe Threads::Threads)
set_target_properties(entry_fuzz PROPERTIES BUILD_RPATH "${TENSORFLOW_DIR}")
if(HPU_HAS_LIBFUZZER)
  target_compile_options(hpu_fuzzed PRIVATE -fsanitize=fuzzer-no-link)
  target_link_options(entry_fuzz PRIVATE -fsanitize=fuzzer)
else()
  target_compile_options(hpu_fuzzed PRIVATE -fsanitize-coverage=trace-pc)
  target_sources(entry_fuzz PRIVATE plugin/testing/fuzz/driver.cc plugin/testing/fuzz/mutator.cc)
endif()

# service_fuzz: fuzzer of a device server's handlers with mutated messages (make fuzz-service).
add_library(hpu_service_fuzz OBJECT EXCLUDE_FROM_ALL plugin/testing/fuzz/fake_rpc.cc plugin/testing/fuzz/mutator.cc
  plugin/testing/fuzz/random_messages.cc plugin/testing/fuzz/service_fuzz.cc)
target_include_directories(hpu_service_fuzz PRIVATE "${CMAKE_SOURCE_DIR}")
target_link_libraries(hpu_service_fuzz PUBLIC tensorflow hpu_flags hpu_proto_device hpu_proto_serve)
add_executable(service_fuzz EXCLUDE_FROM_ALL plugin/testing/fuzz/service_fuzz_main.cc $<TARGET_OBJECTS:hpu_service_fuzz>
  plugin/backends/remote/rpc_library.cc)
foreach(part base hal flags program compat proto_device proto_recipe proto_serve backend_common backend_null server)
  target_sources(service_fuzz PRIVATE $<TARGET_OBJECTS:hpu_${part}>)
endforeach()
target_include_directories(service_fuzz PRIVATE "${CMAKE_SOURCE_DIR}")
target_link_libraries(service_fuzz PRIVATE tensorflow Threads::Threads ${CMAKE_DL_LIBS})
set_target_properties(service_fuzz PROPERTIES BUILD_RPATH "${TENSORFLOW_DIR}")
