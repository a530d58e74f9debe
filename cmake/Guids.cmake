# Generates a C++ table of the guids in plugin/backends/gaudi/guids.yaml.
set(guid_rows "${CMAKE_BINARY_DIR}/generated/plugin/backends/gaudi/guids/guid_rows.cc")
add_custom_command(
  OUTPUT "${guid_rows}"
  COMMAND "${Python3_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/tools/generate_guids.py" --cpp
          "${CMAKE_BINARY_DIR}/generated/plugin/backends/gaudi/guids"
  DEPENDS "${CMAKE_SOURCE_DIR}/plugin/backends/gaudi/guids.yaml" "${CMAKE_SOURCE_DIR}/tools/generate_guids.py"
  VERBATIM)
target_sources(hpu_backend_gaudi PRIVATE "${guid_rows}")
