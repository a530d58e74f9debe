# Unity build: compiles sources together, because TensorFlow's headers and the templates that they instantiate cost each
# unit up to 15 s.

option(HPU_UNITY "Compile sources together: shorter full builds, but longer rebuilds after a change of one file" ON)

# hpu_unite(<target> [UNITS <count>]): compiles the target's sources in <count> units (1 by default), except sources
# that have options of their own. The sources of a unit share one anonymous namespace, so its names must be unique in the
# target.
function(hpu_unite target)
  cmake_parse_arguments(ARG "" "UNITS" "" ${ARGN})
  if(NOT HPU_UNITY)
    return()
  endif()
  if(NOT ARG_UNITS)
    set(ARG_UNITS 1)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources EXCLUDE REGEX "^\\$<")  # objects of other targets
  foreach(source IN LISTS sources)
    get_source_file_property(options "${source}" COMPILE_OPTIONS)
    if(options)
      list(REMOVE_ITEM sources "${source}")
    endif()
  endforeach()
  list(SORT sources)  # by folder
  set(written ${sources})
  list(FILTER written EXCLUDE REGEX "^${CMAKE_BINARY_DIR}/")
  execute_process(COMMAND "${Python3_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/tools/check_names.py" ${written}
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "sources of ${target} define the same names, see the errors above")
  endif()
  list(LENGTH sources count)
  set(index 0)
  foreach(source IN LISTS sources)
    math(EXPR unit "${index} * ${ARG_UNITS} / ${count}")
    math(EXPR index "${index} + 1")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${unit}")
  endforeach()
endfunction()
