#include "plugin/c_api.h"

#include "plugin/version/source_hash.h"

extern "C" const char* hpu_version() {
  return HPU_PACKAGE_VERSION "_" HPU_SOURCE_REVISION "." HPU_SOURCE_HASH "_tf" HPU_TENSORFLOW_VERSION;
}
