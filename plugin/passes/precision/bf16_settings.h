// Settings of the bfloat16 conversion.
#ifndef HPU_PLUGIN_PASSES_PRECISION_BF16_SETTINGS_H_
#define HPU_PLUGIN_PASSES_PRECISION_BF16_SETTINGS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "plugin/passes/precision/bf16_config.h"

namespace hpu::passes {

// The active configuration; null if the conversion is off. TF_BF16_CONVERSION (or TF_ENABLE_BF16_CONVERSION) selects
// the configuration. If neither variable is set, automatic mixed precision selects the recipe "full". Environment
// variables or `amp_requested`, from the session's options, enable automatic mixed precision. Writes the configuration
// to TF_BF16_DUMP_PATH, if set. Thread safe.
absl::StatusOr<std::shared_ptr<const Bf16Config>> ActiveBf16Config(bool amp_requested);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PRECISION_BF16_SETTINGS_H_
