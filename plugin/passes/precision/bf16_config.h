// Configuration of the bfloat16 conversion: the lists of a TF_BF16_CONVERSION JSON file
// (docs/tuning/mixed_precision.md).
#ifndef HPU_PLUGIN_PASSES_PRECISION_BF16_CONFIG_H_
#define HPU_PLUGIN_PASSES_PRECISION_BF16_CONFIG_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "re2/re2.h"

namespace hpu::passes {

// One entry of the exception lists.
struct Bf16Exception {
  std::shared_ptr<const RE2> name;  // must match the whole node name, with or without the prefix of inlined calls
  std::string op;                   // op type; empty for any
};

// Op types in the order of the file. If several lists contain an op, the first of these applies: non-convertible
// exceptions, convertible exceptions, allowlist, conditional list, strict conditional list.
struct Bf16Config {
  std::vector<std::string> allowlist;
  std::vector<std::string> conditional;
  std::vector<std::string> strict_conditional;
  std::vector<Bf16Exception> non_convertible;
  std::vector<Bf16Exception> convertible;

  // The configuration as JSON, with canonical keys. Inverse of ParseBf16Config.
  std::string ToJson() const;
};

// Parses the text of the file `path`. Errors name the file and the invalid key, and for an unknown key the nearest
// valid key.
absl::StatusOr<Bf16Config> ParseBf16Config(const std::string& text, const std::string& path);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PRECISION_BF16_CONFIG_H_
