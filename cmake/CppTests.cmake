# C++ tests: the HAL's conformance suite and unit tests that need no Python.
find_package(GTest REQUIRED)

# hpu_cts: plugin/cts/*.cc over every backend, without TensorFlow's device, passes and kernels.
file(GLOB cts_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/plugin/cts/*.cc"
  "${CMAKE_SOURCE_DIR}/plugin/hal/*_test.cc" "${CMAKE_SOURCE_DIR}/plugin/files/*_test.cc"
  "${CMAKE_SOURCE_DIR}/plugin/containment/*_test.cc"
  "${CMAKE_SOURCE_DIR}/plugin/store/*_test.cc"
  "${CMAKE_SOURCE_DIR}/plugin/serve/*_test.cc" "${CMAKE_SOURCE_DIR}/plugin/backends/*/*_test.cc"
  "${CMAKE_SOURCE_DIR}/plugin/fuzz/*_test.cc"
  "${CMAKE_SOURCE_DIR}/plugin/backends/*/*/*_test.cc"
  # What of the compiler needs no tf2xla.
  "${CMAKE_SOURCE_DIR}/plugin/compiler/compile_queue*.cc" "${CMAKE_SOURCE_DIR}/plugin/compiler/compile_progress*.cc"
  "${CMAKE_SOURCE_DIR}/plugin/compiler/recipe_cache*.cc" "${CMAKE_SOURCE_DIR}/plugin/compiler/disk_cache.cc"
  "${CMAKE_SOURCE_DIR}/plugin/compiler/fingerprint.cc")
if(HPU_SANITIZE MATCHES "thread")
  # They run inside TensorFlow, whose locks ThreadSanitizer does not see.
  list(FILTER cts_sources EXCLUDE REGEX "/backends/emulator/(recipe|object_loader|hlo_passes|kernels)|/compiler/.*_test")
endif()
if(HPU_SANITIZE)
  # It takes the place of functions that sanitizers take the place of.
  list(FILTER cts_sources EXCLUDE REGEX "/store/faults_test")
endif()
if(cts_sources)
  add_executable(hpu_cts ${cts_sources} $<TARGET_OBJECTS:hpu_files> $<TARGET_OBJECTS:hpu_hal> $<TARGET_OBJECTS:hpu_log>
    $<TARGET_OBJECTS:hpu_host_kernels> $<TARGET_OBJECTS:hpu_containment>
    $<TARGET_OBJECTS:hpu_flags> $<TARGET_OBJECTS:hpu_store> $<TARGET_OBJECTS:hpu_proto_device>
    $<TARGET_OBJECTS:hpu_proto_recipe> $<TARGET_OBJECTS:hpu_proto_serve> $<TARGET_OBJECTS:hpu_service_fuzz> $<TARGET_OBJECTS:hpu_version>)
  foreach(layer backend_common backend_null backend_emulator backend_remote serve)
    if(TARGET hpu_${layer})
      target_sources(hpu_cts PRIVATE $<TARGET_OBJECTS:hpu_${layer}>)
    endif()
  endforeach()
  target_include_directories(hpu_cts PRIVATE "${CMAKE_SOURCE_DIR}")
  target_link_libraries(hpu_cts PRIVATE tensorflow hpu_flags hpu_proto_device hpu_proto_recipe hpu_proto_serve GTest::gtest Threads::Threads ${CMAKE_DL_LIBS})
  # Sanitizers refuse libraries that bind their own symbols (plugin/backends/remote/rpc_library.cc).
  if(TARGET hpu_remote AND NOT HPU_SANITIZE)
    add_dependencies(hpu_cts hpu_remote)
    target_compile_definitions(hpu_cts PRIVATE HPU_HAVE_REMOTE CTS_PYTHON="${Python3_EXECUTABLE}"
      CTS_ROOT="${CMAKE_SOURCE_DIR}")
  endif()
  set_target_properties(hpu_cts PROPERTIES BUILD_RPATH "${TENSORFLOW_DIR}")
  add_test(NAME cts COMMAND hpu_cts)
  set_tests_properties(cts PROPERTIES TIMEOUT 600)
endif()

# hpu_bench: plugin/bench/*.cc, with Google Benchmark where it is installed.
find_package(benchmark QUIET)
if(benchmark_FOUND)
  file(GLOB bench_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/plugin/bench/*.cc")
  add_executable(hpu_bench ${bench_sources})
  foreach(layer IN LISTS layers)
    target_sources(hpu_bench PRIVATE $<TARGET_OBJECTS:${layer}>)
  endforeach()
  target_sources(hpu_bench PRIVATE $<TARGET_OBJECTS:hpu_flags> $<TARGET_OBJECTS:hpu_proto_device>
    $<TARGET_OBJECTS:hpu_proto_recipe> $<TARGET_OBJECTS:hpu_proto_serve>)
  target_include_directories(hpu_bench PRIVATE "${CMAKE_SOURCE_DIR}")
  target_link_libraries(hpu_bench PRIVATE tensorflow hpu_flags hpu_proto_recipe benchmark::benchmark Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(hpu_bench PROPERTIES BUILD_RPATH "${TENSORFLOW_DIR}")
endif()
