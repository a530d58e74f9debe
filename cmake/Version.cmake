# Version variables: HPU_PACKAGE_VERSION and HPU_PROJECT_URL from the Python package, HPU_SOURCE_REVISION from git ("release" in a source
# archive), and HPU_SOURCE_HASH_HEADER. Each build rewrites the header if a source has changed.
file(STRINGS "${CMAKE_SOURCE_DIR}/habana_frameworks/tensorflow/_internal/version.py" line REGEX "^__version__")
string(REGEX REPLACE "^__version__ = \"(.*)\"$" "\\1" HPU_PACKAGE_VERSION "${line}")
file(STRINGS "${CMAKE_SOURCE_DIR}/habana_frameworks/tensorflow/_internal/version.py" line REGEX "^PROJECT_URL")
string(REGEX REPLACE "^PROJECT_URL = \"(.*)\"$" "\\1" HPU_PROJECT_URL "${line}")
configure_file("${CMAKE_SOURCE_DIR}/plugin/base/version/contact.h.in"
  "${CMAKE_BINARY_DIR}/generated/plugin/base/version/contact.h" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  "${CMAKE_SOURCE_DIR}/habana_frameworks/tensorflow/_internal/version.py")

find_program(GIT_PROGRAM git)
set(HPU_SOURCE_REVISION "release")
if(GIT_PROGRAM AND EXISTS "${CMAKE_SOURCE_DIR}/.git")
  execute_process(COMMAND "${GIT_PROGRAM}" rev-parse --short=8 HEAD WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
    OUTPUT_VARIABLE revision RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND "${GIT_PROGRAM}" rev-parse --git-path logs/HEAD WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
    OUTPUT_VARIABLE log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT failed)
    set(HPU_SOURCE_REVISION "${revision}")
  endif()
  # Every commit adds a line to this log, so the next build runs CMake again and reads the new revision.
  get_filename_component(log "${log}" ABSOLUTE BASE_DIR "${CMAKE_SOURCE_DIR}")
  if(EXISTS "${log}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${log}")
  endif()
endif()

set(HPU_SOURCE_HASH_HEADER "${CMAKE_BINARY_DIR}/generated/plugin/base/version/source_hash.h")
set(directory "${CMAKE_SOURCE_DIR}")
set(glob_flags CONFIGURE_DEPENDS)
include(HashedSources)
add_custom_command(OUTPUT "${HPU_SOURCE_HASH_HEADER}"
  COMMAND "${CMAKE_COMMAND}" "-Ddirectory=${directory}" "-Dheader=${HPU_SOURCE_HASH_HEADER}"
    -P "${CMAKE_CURRENT_LIST_DIR}/SourceHash.cmake"
  DEPENDS ${hashed} "${CMAKE_CURRENT_LIST_DIR}/SourceHash.cmake"
    "${CMAKE_CURRENT_LIST_DIR}/HashedSources.cmake"
  VERBATIM)
