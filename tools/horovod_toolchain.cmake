# CMake toolchain file of Horovod's build (build_horovod.sh), for less processor time: no -O3, no debug information.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -DNDEBUG" CACHE STRING "")

# Horovod builds Gloo twice, with C++11 and with C++17. Its library for TensorFlow links only the C++17 build, so this
# file excludes builds that no target links. CMake also reads this file after each project(gloo).
set(CMAKE_PROJECT_gloo_INCLUDE "${CMAKE_CURRENT_LIST_FILE}")
if(PROJECT_NAME STREQUAL "gloo")
  set_directory_properties(PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
