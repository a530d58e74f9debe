# C++ tests: the HAL's conformance suite and unit tests that need no Python.
find_package(GTest REQUIRED)

# hpu_cts: plugin/testing/cts/ over every backend but Gaudi's, without TensorFlow's device, passes and kernels.
file(GLOB_RECURSE cts_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/plugin/*_test.cc")
file(GLOB more CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/plugin/testing/*.cc" "${CMAKE_SOURCE_DIR}/plugin/testing/cts/*.cc"
  "${CMAKE_SOURCE_DIR}/plugin/testing/cts/entries/*.cc"
  # Sources of other layers that do not depend on tf2xla.
  "${CMAKE_SOURCE_DIR}/plugin/compiler/background/*.cc" "${CMAKE_SOURCE_DIR}/plugin/compiler/recipe_cache.cc"
  "${CMAKE_SOURCE_DIR}/plugin/tensorflow/kernels/compile_policy.cc"
  "${CMAKE_SOURCE_DIR}/plugin/tensorflow/kernels/launch/faster_way.cc")
list(APPEND cts_sources ${more})
list(FILTER cts_sources EXCLUDE REGEX "${HPU_OTHER_RELEASES}")
list(FILTER cts_sources EXCLUDE REGEX "/backends/gaudi/|/entries/gaudi|/testing/(synapse_|gaudi_)")  # cmake/GaudiTests.cmake has them
list(REMOVE_DUPLICATES cts_sources)
list(SORT cts_sources COMPARE FILE_BASENAME)
if(HPU_SANITIZE MATCHES "thread")
  # Excludes tests that run inside TensorFlow, because ThreadSanitizer does not see TensorFlow's locks.
  list(FILTER cts_sources EXCLUDE REGEX "/backends/common/hlo/|/backends/emulator/(codegen|hlo_passes|kernels)/|/compat/(cluster|function)_|/compiler/.*_test")
endif()
if(HPU_SANITIZE)
  # Excludes faults_test, which replaces C library functions that sanitizers also replace.
  list(FILTER cts_sources EXCLUDE REGEX "/recipes/faults_test")
endif()
if(cts_sources)
  add_executable(hpu_cts ${cts_sources} $<TARGET_OBJECTS:hpu_flags> $<TARGET_OBJECTS:hpu_proto_device>
    $<TARGET_OBJECTS:hpu_proto_recipe> $<TARGET_OBJECTS:hpu_proto_serve> $<TARGET_OBJECTS:hpu_service_fuzz>)
  foreach(layer base compat hal program recipes backend_common backend_null backend_emulator backend_pjrt backend_remote server)
    target_sources(hpu_cts PRIVATE $<TARGET_OBJECTS:hpu_${layer}>)
  endforeach()
  target_include_directories(hpu_cts PRIVATE "${CMAKE_SOURCE_DIR}")
  target_include_directories(hpu_cts SYSTEM PRIVATE "${PJRT_INCLUDE_DIR}")
  get_filename_component(packages "${PJRT_INCLUDE_DIR}/../../.." ABSOLUTE)
  target_compile_definitions(hpu_cts PRIVATE CTS_PACKAGES="${packages}" CTS_ROOT="${CMAKE_SOURCE_DIR}")
  target_link_libraries(hpu_cts PRIVATE tensorflow hpu_flags hpu_proto_device hpu_proto_recipe hpu_proto_serve GTest::gtest Threads::Threads ${CMAKE_DL_LIBS})
  # Sanitizers do not support dlopen() with RTLD_DEEPBIND (plugin/backends/remote/rpc_library.cc).
  if(TARGET hpu_remote AND NOT HPU_SANITIZE)
    add_dependencies(hpu_cts hpu_remote)
    target_compile_definitions(hpu_cts PRIVATE HPU_HAVE_REMOTE CTS_PYTHON="${Python3_EXECUTABLE}")
  endif()
  # Each test file has a namespace named after the file.
  hpu_unite(hpu_cts UNITS 5)
  target_compile_options(hpu_cts PRIVATE -O1)  # tests only; the tested code keeps its options
  set_target_properties(hpu_cts PROPERTIES BUILD_RPATH "${TENSORFLOW_DIR}")
  add_test(NAME cts COMMAND hpu_cts)
  set_tests_properties(cts PROPERTIES TIMEOUT 600)
endif()

# hpu_bench: benchmarks in plugin/testing/bench/*.cc, if Google Benchmark is installed.
find_package(benchmark QUIET)
if(benchmark_FOUND)
  file(GLOB bench_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/plugin/testing/bench/*.cc")
  add_executable(hpu_bench ${bench_sources})
  foreach(layer IN LISTS layers)
    target_sources(hpu_bench PRIVATE $<TARGET_OBJECTS:${layer}>)
  endforeach()
  target_sources(hpu_bench PRIVATE $<TARGET_OBJECTS:hpu_flags> $<TARGET_OBJECTS:hpu_proto_device>
    $<TARGET_OBJECTS:hpu_proto_recipe> $<TARGET_OBJECTS:hpu_proto_report> $<TARGET_OBJECTS:hpu_proto_serve>)
  target_include_directories(hpu_bench PRIVATE "${CMAKE_SOURCE_DIR}")
  target_include_directories(hpu_bench SYSTEM PRIVATE "${PJRT_INCLUDE_DIR}")
  target_link_libraries(hpu_bench PRIVATE tensorflow hpu_flags hpu_proto_recipe benchmark::benchmark Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(hpu_bench PROPERTIES BUILD_RPATH "${TENSORFLOW_DIR}")
endif()
