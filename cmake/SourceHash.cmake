# cmake -Ddirectory=… -Dheader=… -P SourceHash.cmake writes a header that defines HPU_SOURCE_HASH: an 8-digit hash of
# the plugin's sources, including uncommitted changes.
include("${CMAKE_CURRENT_LIST_DIR}/HashedSources.cmake")
foreach(file IN LISTS hashed)
  file(SHA256 "${file}" hash)
  file(RELATIVE_PATH name "${directory}" "${file}")
  string(APPEND hashes "${name} ${hash}\n")
endforeach()
string(SHA256 hash "${hashes}")
string(SUBSTRING "${hash}" 0 8 hash)
file(WRITE "${header}" "#define HPU_SOURCE_HASH \"${hash}\"\n")
