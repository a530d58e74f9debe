#include "plugin/base/version/version.h"

#include "plugin/base/version/source_hash.h"

namespace hpu {

const char* PluginVersion() {
  return HPU_PACKAGE_VERSION "_" HPU_SOURCE_REVISION "." HPU_SOURCE_HASH "_tf" HPU_TENSORFLOW_VERSION;
}

}  // namespace hpu
