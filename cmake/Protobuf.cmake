# Generates C++ and Python from proto/, with the protoc version of TensorFlow's protobuf (cmake/TensorFlow.cmake).
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
set(proto_python_dir "${CMAKE_BINARY_DIR}/generated/python")
file(MAKE_DIRECTORY "${proto_dir}" "${proto_python_dir}")
# hpu_proto(NAME FILES...): defines the object library hpu_proto_NAME from proto/FILES and generates the Python modules.
function(hpu_proto name)
  set(sources)
  foreach(file IN LISTS ARGN)
    string(REGEX REPLACE "\\.proto$" "" stem "${file}")
    add_custom_command(
      OUTPUT "${proto_dir}/${stem}.pb.cc" "${proto_dir}/${stem}.pb.h" "${proto_python_dir}/${stem}_pb2.py"
      COMMAND "${HPU_PROTOC}" "--proto_path=${CMAKE_SOURCE_DIR}/proto" "--cpp_out=${proto_dir}"
        "--python_out=${proto_python_dir}" "${CMAKE_SOURCE_DIR}/proto/${file}"
      DEPENDS "${CMAKE_SOURCE_DIR}/proto/${file}"
      VERBATIM)
    list(APPEND sources "${proto_dir}/${stem}.pb.cc" "${proto_dir}/${stem}.pb.h")
  endforeach()
  add_library(hpu_proto_${name} OBJECT ${sources})
  target_include_directories(hpu_proto_${name} SYSTEM PUBLIC "${proto_dir}")
  target_link_libraries(hpu_proto_${name} PUBLIC tensorflow)
endfunction()
