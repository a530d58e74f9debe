#include "plugin/base/flags/warnings.h"
#include "plugin/c_api/c_api.h"

int32_t hpu_claim_setting_warning(const char* name) { return hpu::flags::ClaimWarning(name) ? 1 : 0; }
