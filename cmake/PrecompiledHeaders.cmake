# Headers that are compiled once for a layer. Without them, TensorFlow's headers take most of a file's compile time.
# -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON shows whether a file includes all that it uses.

# hpu_precompile(<target> <header> <sources>...): the sources of <target> that begin with cmake/precompiled/<header>, or with
# that of another target, if <header> is one.
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
