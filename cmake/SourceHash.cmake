# cmake -DDIRECTORY=… -DHEADER=… -P SourceHash.cmake writes a header that defines HPU_SOURCE_HASH: 8 digits that tell the
# sources of the plugin apart, committed or not.
file(GLOB_RECURSE files RELATIVE "${DIRECTORY}" "${DIRECTORY}/plugin/*.cc" "${DIRECTORY}/plugin/*.h"
  "${DIRECTORY}/plugin/*.yaml" "${DIRECTORY}/proto/*.proto")
list(SORT files)
foreach(file IN LISTS files)
  file(SHA256 "${DIRECTORY}/${file}" hash)
  string(APPEND hashes "${file} ${hash}\n")
endforeach()
string(SHA256 hash "${hashes}")
string(SUBSTRING "${hash}" 0 8 hash)
file(WRITE "${HEADER}" "#define HPU_SOURCE_HASH \"${hash}\"\n")
