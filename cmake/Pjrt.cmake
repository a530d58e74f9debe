# PJRT_INCLUDE_DIR: folder of the PJRT C API header. The header comes from XLA's package xla-cpu-pjrt, because the copy
# in TensorFlow 2.15 is too old for current plugins. The hash pins the header's contents.
set(PJRT_HEADER_SHA256 c85bb95cb1743c2a353a555b3ab35f065e5f17007c7f182ad68d23754950235c)

execute_process(COMMAND "${Python3_EXECUTABLE}" -c
  "import importlib.util as u; print(list(u.find_spec('xla_plugins.xla_cpu_pjrt').submodule_search_locations)[0])"
  OUTPUT_VARIABLE package OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(PJRT_INCLUDE_DIR "${package}/include")
if(NOT EXISTS "${PJRT_INCLUDE_DIR}/pjrt_c_api.h")
  message(FATAL_ERROR "the header of the PJRT C API is missing for ${Python3_EXECUTABLE}: run pip install -r requirements/build.txt")
endif()
file(SHA256 "${PJRT_INCLUDE_DIR}/pjrt_c_api.h" hash)
if(NOT hash STREQUAL PJRT_HEADER_SHA256)
  message(FATAL_ERROR "${PJRT_INCLUDE_DIR}/pjrt_c_api.h has the SHA-256 ${hash}, expected ${PJRT_HEADER_SHA256}: "
    "run pip install -r requirements/build.txt")
endif()
