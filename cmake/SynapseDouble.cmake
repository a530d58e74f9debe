# hpu_synapse_kernels: kernels of the Synapse double, with a C entry for tests/gaudi/. Uses nothing of TensorFlow or
# of the plugin, except the params structs of plugin/backends/gaudi/synapse/.
file(GLOB kernel_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/plugin/testing/synapse_double/kernels/*.cc")
add_library(hpu_synapse_kernels SHARED ${kernel_sources})
target_include_directories(hpu_synapse_kernels PRIVATE "${CMAKE_SOURCE_DIR}")
target_compile_options(hpu_synapse_kernels PRIVATE -O1 -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare)
target_link_options(hpu_synapse_kernels PRIVATE "-Wl,--no-undefined")
hpu_unite(hpu_synapse_kernels UNITS 2)

# synapse_double_1_5, synapse_double_1_18: the Synapse double, as synapse_double/<release>/libSynapse.so. It is loaded in
# SynapseAI's place, so it uses nothing of TensorFlow, and of the plugin only plugin/backends/gaudi/synapse/ and the
# table of guids.
set(double_folder "${CMAKE_SOURCE_DIR}/plugin/testing/synapse_double")
file(GLOB double_sources CONFIGURE_DEPENDS "${double_folder}/runtime/*.cc" "${double_folder}/graph/*.cc"
  "${double_folder}/graph/shapes/*.cc" "${double_folder}/hcl/*.cc")
list(APPEND double_sources "${CMAKE_SOURCE_DIR}/plugin/backends/gaudi/guids/guid_table.cc" "${guid_rows}")
file(GLOB double_c_api CONFIGURE_DEPENDS "${double_folder}/c_api/*.cc")
add_library(synapse_double OBJECT ${double_sources})
foreach(release 1_5 1_18)
  add_library(synapse_double_${release} MODULE ${double_c_api} $<TARGET_OBJECTS:synapse_double>
    $<TARGET_OBJECTS:hpu_synapse_kernels>)
  string(REPLACE "_" "." folder "${release}")
  set_target_properties(synapse_double_${release} PROPERTIES OUTPUT_NAME Synapse
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/synapse_double/${folder}")
  target_link_libraries(synapse_double_${release} PRIVATE Threads::Threads)
  # nodelete: streams may still run when the library is closed.
  target_link_options(synapse_double_${release} PRIVATE -Wl,-z,nodelete
    "-Wl,--version-script=${double_folder}/c_api/exports.map")
  if(NOT HPU_SANITIZE)
    target_link_options(synapse_double_${release} PRIVATE -Wl,--no-undefined)
  endif()
endforeach()
target_compile_definitions(synapse_double_1_5 PRIVATE SYNAPSE_DOUBLE_1_5)
foreach(target synapse_double synapse_double_1_5 synapse_double_1_18)
  hpu_unite(${target})
endforeach()

# synapse_double_hcl_1_5, synapse_double_hcl_1_18: libhcl.so beside each libSynapse.so, to which it forwards.
foreach(release 1_5 1_18)
  add_library(synapse_double_hcl_${release} MODULE "${double_folder}/hcl/library/exports.cc")
  string(REPLACE "_" "." folder "${release}")
  set_target_properties(synapse_double_hcl_${release} PROPERTIES OUTPUT_NAME hcl
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/synapse_double/${folder}")
  target_link_libraries(synapse_double_hcl_${release} PRIVATE ${CMAKE_DL_LIBS})
  target_link_options(synapse_double_hcl_${release} PRIVATE "-Wl,--version-script=${double_folder}/hcl/library/exports.map")
  add_dependencies(synapse_double_${release} synapse_double_hcl_${release})
endforeach()
foreach(target synapse_double synapse_double_1_5 synapse_double_1_18 synapse_double_hcl_1_5 synapse_double_hcl_1_18)
  target_include_directories(${target} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_compile_options(${target} PRIVATE -O1 -Wall -Wextra -Wmissing-declarations -Wno-unused-parameter -Wno-sign-compare)
endforeach()
