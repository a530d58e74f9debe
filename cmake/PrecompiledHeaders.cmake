# Precompiled headers of the layers, for builds without HPU_UNITY. Without precompilation, TensorFlow's headers dominate
# the compile time of a file. For a few units, precompiling costs more time than it saves.
# -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON shows whether each file includes all headers that it uses.

# hpu_precompile(<target> <header> <patterns>...): precompiles cmake/precompiled/<header> for the sources of <target>
# that match one of the patterns. If <header> is a target, reuses the precompiled header of that target.
function(hpu_precompile target header)
  if(NOT TARGET ${target})
    return()
  endif()
  if(TARGET ${header})
    target_precompile_headers(${target} REUSE_FROM ${header})
  else()
    target_precompile_headers(${target} PRIVATE "${CMAKE_SOURCE_DIR}/cmake/precompiled/${header}")
  endif()
  get_target_property(others ${target} SOURCES)
  foreach(pattern IN LISTS ARGN)
    list(FILTER others EXCLUDE REGEX "${pattern}")
  endforeach()
  set_source_files_properties(${others} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
