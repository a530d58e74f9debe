# Tests of the Gaudi backend, without the other backends.

# hpu_gaudi_tests: unit tests.
file(GLOB_RECURSE gaudi_test_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/plugin/backends/gaudi/*_test.cc"
  "${CMAKE_SOURCE_DIR}/plugin/testing/fuzz/hlo/*.cc")
list(APPEND gaudi_test_sources "${CMAKE_SOURCE_DIR}/plugin/testing/gaudi_program.cc")
if(HPU_SANITIZE MATCHES "thread")
  # Excludes tests that compare with XLA's evaluator, because ThreadSanitizer does not see the locks of its thread pool.
  list(FILTER gaudi_test_sources EXCLUDE REGEX "/backends/gaudi/(check|lowerings)/|/fuzz/hlo/")
endif()
list(SORT gaudi_test_sources COMPARE FILE_BASENAME)
add_executable(hpu_gaudi_tests ${gaudi_test_sources})
foreach(layer flags proto_recipe base compat hal program backend_common backend_gaudi)
  target_sources(hpu_gaudi_tests PRIVATE $<TARGET_OBJECTS:hpu_${layer}>)
endforeach()
target_include_directories(hpu_gaudi_tests PRIVATE "${CMAKE_SOURCE_DIR}")
target_link_libraries(hpu_gaudi_tests PRIVATE tensorflow hpu_flags GTest::gtest GTest::gtest_main Threads::Threads ${CMAKE_DL_LIBS})
target_compile_options(hpu_gaudi_tests PRIVATE -O1)
set_target_properties(hpu_gaudi_tests PROPERTIES BUILD_RPATH "${TENSORFLOW_DIR}")
hpu_unite(hpu_gaudi_tests UNITS 2)
add_test(NAME gaudi COMMAND hpu_gaudi_tests)
set_tests_properties(gaudi PROPERTIES TIMEOUT 120)

# Nodes recorded in graphs of SynapseAI, as text in RECORDED_SIGNATURES.
set(recorded_signatures "${CMAKE_BINARY_DIR}/generated/recorded_signatures.txt")
add_custom_command(
  OUTPUT "${recorded_signatures}"
  COMMAND "${Python3_EXECUTABLE}" -m tests.gaudi.recorded_signatures > "${recorded_signatures}"
  WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
  DEPENDS "${CMAKE_SOURCE_DIR}/tests/gaudi/recorded_signatures.py"
  VERBATIM)
add_custom_target(hpu_recorded_signatures DEPENDS "${recorded_signatures}")
add_dependencies(hpu_gaudi_tests hpu_recorded_signatures)
target_compile_definitions(hpu_gaudi_tests PRIVATE "RECORDED_SIGNATURES=\"${recorded_signatures}\"")

# Fake libraries for tests of the loader, and their paths as FAKE_SYNAPSE_1_5, FAKE_SYNAPSE_1_18, FAKE_SYNAPSE_INCOMPLETE.
foreach(fake 1_5 1_18 incomplete)
  add_library(synapse_fake_${fake} MODULE EXCLUDE_FROM_ALL "${CMAKE_SOURCE_DIR}/plugin/testing/synapse_fake/library.cc"
    "${CMAKE_SOURCE_DIR}/plugin/testing/synapse_fake/stubs.cc")
  target_include_directories(synapse_fake_${fake} PRIVATE "${CMAKE_SOURCE_DIR}")
  add_dependencies(hpu_gaudi_tests synapse_fake_${fake})
  string(TOUPPER "${fake}" name)
  target_compile_definitions(hpu_gaudi_tests PRIVATE "FAKE_SYNAPSE_${name}=\"$<TARGET_FILE:synapse_fake_${fake}>\"")
endforeach()
target_compile_definitions(synapse_fake_1_5 PRIVATE FAKE_SYNAPSE_1_5)
target_link_options(synapse_fake_incomplete PRIVATE
  "-Wl,--version-script=${CMAKE_SOURCE_DIR}/plugin/testing/synapse_fake/incomplete.map")

# hpu_gaudi_cts: plugin/testing/cts/ over the Gaudi backend, with each release of the Synapse double.
file(GLOB gaudi_cts_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/plugin/testing/cts/*.cc")
add_executable(hpu_gaudi_cts ${gaudi_cts_sources} "${CMAKE_SOURCE_DIR}/plugin/testing/cts/entries/gaudi.cc")
foreach(layer flags proto_recipe base compat hal program backend_common backend_gaudi)
  target_sources(hpu_gaudi_cts PRIVATE $<TARGET_OBJECTS:hpu_${layer}>)
endforeach()
target_include_directories(hpu_gaudi_cts PRIVATE "${CMAKE_SOURCE_DIR}")
target_link_libraries(hpu_gaudi_cts PRIVATE tensorflow hpu_flags GTest::gtest Threads::Threads ${CMAKE_DL_LIBS})
target_compile_options(hpu_gaudi_cts PRIVATE -O1)
set_target_properties(hpu_gaudi_cts PROPERTIES BUILD_RPATH "${TENSORFLOW_DIR}")
hpu_unite(hpu_gaudi_cts)
add_test(NAME gaudi_cts COMMAND hpu_gaudi_cts)
set_tests_properties(gaudi_cts PROPERTIES TIMEOUT 300)

# Paths of the doubles, as SYNAPSE_DOUBLE_LIBRARY_1_5 and SYNAPSE_DOUBLE_LIBRARY_1_18.
foreach(target hpu_gaudi_tests hpu_gaudi_cts)
  foreach(release 1_5 1_18)
    add_dependencies(${target} synapse_double_${release})
    target_compile_definitions(${target} PRIVATE
      "SYNAPSE_DOUBLE_LIBRARY_${release}=\"$<TARGET_FILE:synapse_double_${release}>\"")
  endforeach()
endforeach()
