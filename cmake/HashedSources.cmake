# Sets `hashed` to the source files of the plugin below `directory`. `glob_flags`: extra arguments of
# file(GLOB_RECURSE).
file(GLOB_RECURSE hashed ${glob_flags} "${directory}/plugin/*.cc" "${directory}/plugin/*.h"
  "${directory}/plugin/*.yaml" "${directory}/proto/*.proto")
list(FILTER hashed EXCLUDE REGEX "_test\\.cc$|/plugin/testing/")
list(SORT hashed)
