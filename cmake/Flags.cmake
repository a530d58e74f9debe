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

# Generates the enumeration of the rules in habana_frameworks/tensorflow/explanation/rules.py.
set(rules_dir "${CMAKE_BINARY_DIR}/generated/plugin/base/rules")
file(MAKE_DIRECTORY "${rules_dir}")
add_custom_command(
  OUTPUT "${rules_dir}/rules.h"
  COMMAND "${Python3_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/tools/generate_rules.py" "${rules_dir}"
  DEPENDS "${CMAKE_SOURCE_DIR}/habana_frameworks/tensorflow/explanation/rules.py"
          "${CMAKE_SOURCE_DIR}/tools/generate_rules.py"
  VERBATIM)
target_sources(hpu_flags PRIVATE "${rules_dir}/rules.h")
