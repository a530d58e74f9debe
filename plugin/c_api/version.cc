#include "plugin/base/version/version.h"

#include "plugin/c_api/c_api.h"

const char* hpu_version(void) { return hpu::PluginVersion(); }
