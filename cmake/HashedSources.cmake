# Sets `hashed` to the sources below `directory` that the plugin is built from. `glob_flags` are file(GLOB)'s.
file(GLOB_RECURSE hashed ${glob_flags} "${directory}/plugin/*.cc" "${directory}/plugin/*.h"
  "${directory}/plugin/*.yaml" "${directory}/proto/*.proto")
list(FILTER hashed EXCLUDE REGEX "_test\\.cc$|/plugin/testing/")
list(SORT hashed)
