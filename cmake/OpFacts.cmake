# Generates a C++ table of the facts in plugin/op_facts.yaml.
set(op_facts_table "${CMAKE_BINARY_DIR}/generated/plugin/op_facts/op_facts_table.cc")
add_custom_command(
  OUTPUT "${op_facts_table}"
  COMMAND "${Python3_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/tools/generate_op_facts.py" --cpp
          "${CMAKE_BINARY_DIR}/generated/plugin/op_facts"
  DEPENDS "${CMAKE_SOURCE_DIR}/plugin/op_facts.yaml" "${CMAKE_SOURCE_DIR}/plugin/op_facts/op_facts.h"
          "${CMAKE_SOURCE_DIR}/tools/generate_op_facts.py"
  VERBATIM)
target_sources(hpu_op_facts PRIVATE "${op_facts_table}")
# The function that builds the table runs once, so optimization would only cost compile time.
set_source_files_properties("${op_facts_table}" PROPERTIES COMPILE_OPTIONS "-O0")
