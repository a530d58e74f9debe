// Active configuration of the bfloat16 conversion.
#ifndef HPU_PLUGIN_PASSES_PRECISION_BF16_SETTINGS_H_
#define HPU_PLUGIN_PASSES_PRECISION_BF16_SETTINGS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "plugin/passes/precision/bf16_config.h"

namespace hpu::passes {

// The active configuration; null if the conversion is off. TF_BF16_CONVERSION (or its old name) decides. If it is
// unset, automatic mixed precision selects the recipe "full", either by its environment variables or by `asked_for`
// from the graph's options. The active configuration is written to TF_BF16_DUMP_PATH. Thread safe.
absl::StatusOr<std::shared_ptr<const Bf16Config>> ActiveBf16Config(bool asked_for);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PRECISION_BF16_SETTINGS_H_
