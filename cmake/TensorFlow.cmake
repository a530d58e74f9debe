# Finds TensorFlow in the selected Python environment and defines the target `tensorflow`.
execute_process(
  COMMAND "${Python3_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/tools/find_tensorflow.py"
  OUTPUT_VARIABLE found RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE)
if(failed)
  message(FATAL_ERROR "hpu-tensorflow requires TensorFlow 2.15.1 (see the error above): "
    "run pip install -r requirements/run.txt")
endif()
string(REPLACE "\n" ";" found "${found}")
list(GET found 0 TENSORFLOW_VERSION)
list(GET found 1 TENSORFLOW_DIR)
message(STATUS "TensorFlow ${TENSORFLOW_VERSION}: ${TENSORFLOW_DIR}")

set(tf_include "${TENSORFLOW_DIR}/include")
add_library(tensorflow INTERFACE)
# Sources include headers by their paths in the newest release. `forward` has these paths for an older release.
target_include_directories(tensorflow SYSTEM INTERFACE "${CMAKE_SOURCE_DIR}/plugin/compat/tf_2_15/forward"
  "${tf_include}" "${tf_include}/external/local_xla" "${tf_include}/external/local_tsl")
target_compile_definitions(tensorflow INTERFACE
  _GLIBCXX_USE_CXX11_ABI=1 EIGEN_MAX_ALIGN_BYTES=64 EIGEN_USE_THREADS
  HPU_TENSORFLOW_VERSION="${TENSORFLOW_VERSION}")
# -fno-gnu-unique: the loader must not merge the plugin's template statics with TensorFlow's template statics.
target_compile_options(tensorflow INTERFACE -fno-gnu-unique)
target_link_directories(tensorflow INTERFACE "${TENSORFLOW_DIR}")
target_link_libraries(tensorflow INTERFACE -l:libtensorflow_cc.so.2 -l:libtensorflow_framework.so.2)
