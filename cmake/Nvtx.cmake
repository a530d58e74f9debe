# NVTX_INCLUDE_DIR: folder of NVTX, the headers by which programs name ranges in traces of NVIDIA's tools. NVIDIA's package
# nvidia-nvtx-cu12 has them; programs need no library of it.
execute_process(COMMAND "${Python3_EXECUTABLE}" -c
  "import importlib.util as u; print(list(u.find_spec('nvidia.nvtx').submodule_search_locations)[0])"
  OUTPUT_VARIABLE package OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(NVTX_INCLUDE_DIR "${package}/include")
if(NOT EXISTS "${NVTX_INCLUDE_DIR}/nvtx3/nvToolsExt.h")
  message(FATAL_ERROR "the headers of NVTX are missing for ${Python3_EXECUTABLE}: run pip install -r requirements/build.txt")
endif()
