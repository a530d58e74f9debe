# Sources that are compiled together: what they share of TensorFlow's headers and templates is compiled once for all.

option(HPU_UNITY "Compile sources of a folder together: less processor time in all, more after a change of one file" ON)
# More take more memory at once, and leave a second processor idle.
set(HPU_UNITY_SOURCES 20)

# hpu_unite(<target> [EXCEPT <pattern>]): compiles the target's sources of each folder together, those apart whose paths
# match the pattern. They share one anonymous namespace: a name in it is taken for the whole folder.
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
