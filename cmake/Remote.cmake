# libhpu_remote.so: the RPC library on the system's gRPC, for HPU_BACKEND=grpc… and `hpu serve`. The library does not
# link TensorFlow, because TensorFlow uses other versions of absl and protobuf. The plugin uses the C interface in
# plugin/rpc/rpc.h.
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(GRPC QUIET IMPORTED_TARGET grpc++)
endif()
if(NOT GRPC_FOUND)
  message(WARNING "gRPC's development files are missing: the backend `remote` and `hpu serve` are not built. "
    "To build them, run: sudo apt-get install pkg-config libgrpc++-dev")
  return()
endif()

file(GLOB rpc_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/plugin/rpc/*.cc")
list(FILTER rpc_sources EXCLUDE REGEX "_test\\.cc$")
add_library(hpu_remote SHARED ${rpc_sources})
target_include_directories(hpu_remote PRIVATE "${CMAKE_BINARY_DIR}/layers/rpc")
target_compile_options(hpu_remote PRIVATE -Wall -Wextra -Wno-unused-parameter)
target_link_libraries(hpu_remote PRIVATE PkgConfig::GRPC Threads::Threads)
set(version_script "${CMAKE_SOURCE_DIR}/plugin/rpc/libhpu_remote.map")
target_link_options(hpu_remote PRIVATE "-Wl,--version-script=${version_script}" "-Wl,--no-undefined,-z,now,--as-needed")
set_target_properties(hpu_remote PROPERTIES LINK_DEPENDS "${version_script}")
add_dependencies(habana_device hpu_remote)
install(TARGETS hpu_remote LIBRARY DESTINATION habana_frameworks/tensorflow/lib COMPONENT plugin)
# For clients of other languages: the protocol's definition.
install(FILES "${CMAKE_SOURCE_DIR}/proto/hpu/device/v1/device.proto" DESTINATION habana_frameworks/tensorflow/lib
  COMPONENT plugin)
