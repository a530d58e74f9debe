# Generates C++ from proto/, with the protoc version of TensorFlow's protobuf (cmake/TensorFlow.cmake), and the
# descriptors from which habana_frameworks/tensorflow/_internal/messages makes Python classes.
get_filename_component(python_dir "${Python3_EXECUTABLE}" DIRECTORY)
find_program(HPU_PROTOC protoc HINTS "${python_dir}")
if(NOT HPU_PROTOC)
  message(FATAL_ERROR "protoc is missing: run pip install ${TENSORFLOW_PROTOC_PACKAGE}")
endif()
execute_process(COMMAND "${HPU_PROTOC}" --version OUTPUT_VARIABLE protoc_version OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT protoc_version STREQUAL "libprotoc ${TENSORFLOW_PROTOC_VERSION}")
  message(FATAL_ERROR "${HPU_PROTOC} has version '${protoc_version}', but TensorFlow ${TENSORFLOW_VERSION} needs "
    "${TENSORFLOW_PROTOC_VERSION}: run pip install ${TENSORFLOW_PROTOC_PACKAGE}")
endif()

set(proto_dir "${CMAKE_BINARY_DIR}/generated/proto")
file(MAKE_DIRECTORY "${proto_dir}")
# hpu_proto(NAME FILES...): defines the object library hpu_proto_NAME from proto/FILES.
function(hpu_proto name)
  set(sources)
  foreach(file IN LISTS ARGN)
    string(REGEX REPLACE "\\.proto$" "" stem "${file}")
    add_custom_command(
      OUTPUT "${proto_dir}/${stem}.pb.cc" "${proto_dir}/${stem}.pb.h"
      COMMAND "${HPU_PROTOC}" "--proto_path=${CMAKE_SOURCE_DIR}/proto" "--cpp_out=${proto_dir}"
        "${CMAKE_SOURCE_DIR}/proto/${file}"
      DEPENDS "${CMAKE_SOURCE_DIR}/proto/${file}"
      VERBATIM)
    list(APPEND sources "${proto_dir}/${stem}.pb.cc" "${proto_dir}/${stem}.pb.h")
  endforeach()
  add_library(hpu_proto_${name} OBJECT ${sources})
  target_include_directories(hpu_proto_${name} SYSTEM PUBLIC "${proto_dir}")
  target_link_libraries(hpu_proto_${name} PUBLIC tensorflow)
endfunction()

# The messages that Python reads and writes.
set(python_protos hpu/device/v1/device.proto hpu/ops/v1/ops.proto hpu/report/v1/report.proto hpu/serve/v1/control.proto)
list(TRANSFORM python_protos PREPEND "${CMAKE_SOURCE_DIR}/proto/")
set(HPU_MESSAGES "${CMAKE_BINARY_DIR}/generated/messages.binpb")
add_custom_command(
  OUTPUT "${HPU_MESSAGES}"
  COMMAND "${HPU_PROTOC}" "--proto_path=${CMAKE_SOURCE_DIR}/proto" --include_imports
    "--descriptor_set_out=${HPU_MESSAGES}" ${python_protos}
  DEPENDS ${python_protos}
  VERBATIM)
add_custom_target(hpu_messages DEPENDS "${HPU_MESSAGES}")
