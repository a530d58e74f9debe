# Unity build: compiles sources together, so that shared headers and templates of TensorFlow are compiled once.

option(HPU_UNITY "Compile the sources of a folder together: shorter full builds, but longer rebuilds after a change of one file" ON)
# Maximum number of sources in one unit. Larger units need more memory and leave processors idle.
set(HPU_UNITY_SOURCES 20)

# hpu_unite(<target> [EXCEPT <pattern>]): compiles the target's sources of each folder together, except sources whose
# paths match the pattern. The sources of a folder share one anonymous namespace, so its names must be unique in the
# folder.
function(hpu_unite target)
  cmake_parse_arguments(ARG "" "EXCEPT" "" ${ARGN})
  if(NOT HPU_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  if(ARG_EXCEPT)
    list(FILTER sources EXCLUDE REGEX "${ARG_EXCEPT}")
  endif()
  foreach(source IN LISTS sources)
    get_filename_component(folder "${source}" DIRECTORY)
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(NOT DEFINED count_${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR group "${count_${folder}} / ${HPU_UNITY_SOURCES}")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}_${group}")
  endforeach()
endfunction()
