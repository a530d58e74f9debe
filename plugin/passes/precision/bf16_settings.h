// Which configuration of the bfloat16 conversion is in force.
#ifndef HPU_PLUGIN_PASSES_PRECISION_BF16_SETTINGS_H_
#define HPU_PLUGIN_PASSES_PRECISION_BF16_SETTINGS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "plugin/passes/precision/bf16_config.h"

namespace hpu::passes {

// Null where the conversion is off. TF_BF16_CONVERSION (or its old name) decides; where it is unset, automatic mixed
// precision, by its environment variables or `asked_for` in the graph's options, takes the recipe "full". What
// comes into force is written to TF_BF16_DUMP_PATH. Thread safe.
absl::StatusOr<std::shared_ptr<const Bf16Config>> ActiveBf16Config(bool asked_for);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PRECISION_BF16_SETTINGS_H_
