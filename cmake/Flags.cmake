# Generates the C++ accessors of the settings declared in plugin/flags.yaml.
set(flags_dir "${CMAKE_BINARY_DIR}/generated/plugin/base/flags")
add_custom_command(
  OUTPUT "${flags_dir}/flags.h" "${flags_dir}/flags.cc"
  COMMAND "${Python3_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/tools/generate_flags.py" --cpp "${flags_dir}"
  DEPENDS "${CMAKE_SOURCE_DIR}/plugin/flags.yaml" "${CMAKE_SOURCE_DIR}/tools/generate_flags.py"
  VERBATIM)
add_library(hpu_flags OBJECT "${CMAKE_SOURCE_DIR}/plugin/base/flags/parse.cc" "${flags_dir}/flags.cc" "${flags_dir}/flags.h")
target_include_directories(hpu_flags PUBLIC "${CMAKE_BINARY_DIR}/generated")
target_include_directories(hpu_flags PRIVATE "${CMAKE_SOURCE_DIR}")
