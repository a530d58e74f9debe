// Version string of the plugin.
#ifndef HPU_PLUGIN_BASE_VERSION_VERSION_H_
#define HPU_PLUGIN_BASE_VERSION_VERSION_H_

namespace hpu {

// Release, source revision, hash of the sources and TensorFlow version: "0.2.0_1a2b3c4d.5e6f7a8b_tf2.15.1".
const char* PluginVersion();

}  // namespace hpu

#endif  // HPU_PLUGIN_BASE_VERSION_VERSION_H_
