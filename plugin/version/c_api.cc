#include "plugin/c_api.h"

extern "C" const char* hpu_version() {
  return HPU_PACKAGE_VERSION "_" HPU_SOURCE_REVISION "_tf" HPU_TENSORFLOW_VERSION;
}
