// Configurations of the bfloat16 conversion: the five lists of TF_BF16_CONVERSION's JSON files, which
// docs/tuning/mixed_precision.md explains.
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
  std::shared_ptr<const RE2> name;  // must match the whole node name
  std::string op;                   // op type; empty for any
};

// Lists hold op types in the order of their file. If an op is in several, the first of these wins: non-convertible
// exceptions, convertible exceptions, allowlist, conditional list, strict conditional list.
struct Bf16Config {
  std::vector<std::string> allowlist;
  std::vector<std::string> conditional;
  std::vector<std::string> strict_conditional;
  std::vector<Bf16Exception> non_convertible;
  std::vector<Bf16Exception> convertible;

  // The configuration as text of a file, with the keys of the published files. Inverse of ParseBf16Config.
  std::string ToJson() const;
};

// Parses a configuration from a file's text. Errors name the file, the wrong key and, for an unknown key, the nearest
// valid one.
absl::StatusOr<Bf16Config> ParseBf16Config(const std::string& text, const std::string& path);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PRECISION_BF16_CONFIG_H_
