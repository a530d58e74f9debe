// PluginFingerprint: identity of a PJRT plugin's build, for keys of recipes.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_PLUGIN_FINGERPRINT_H_
#define HPU_PLUGIN_BACKENDS_PJRT_PLUGIN_FINGERPRINT_H_

#include <string>

namespace hpu::pjrt {

// Size of the file and hash of a sample of its contents, for example "91234567-0f3c…". Builds of a plugin may share a
// version, and plugins have no build id. The sample is the file's beginning, its end and up to 512 evenly spaced pages,
// because a CUDA plugin has 400 MB and each process needs the fingerprint at its start. Copies of a file have equal
// fingerprints. Empty if the file cannot be read. Computed once for each path. Thread safe.
const std::string& PluginFingerprint(const std::string& path);

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_PLUGIN_FINGERPRINT_H_
