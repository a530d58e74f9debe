# Generates a C++ table of the op lists in plugin/op_lists.
set(op_list_data "${CMAKE_BINARY_DIR}/generated/plugin/passes/analysis/op_list_data.cc")
file(GLOB op_list_files CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/plugin/op_lists/*.yaml")
add_custom_command(
  OUTPUT "${op_list_data}"
  COMMAND "${Python3_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/tools/generate_op_lists.py" --cpp
          "${CMAKE_BINARY_DIR}/generated/plugin/passes/analysis"
  DEPENDS ${op_list_files} "${CMAKE_SOURCE_DIR}/tools/generate_op_lists.py"
  VERBATIM)
target_sources(hpu_passes PRIVATE "${op_list_data}")
