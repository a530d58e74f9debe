#include "plugin/passes/precision/bf16_settings.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/graph/json_file.h"
#include "plugin/passes/graph/nearest_name.h"
#include "plugin/passes/graph/package_file.h"
#include "plugin/passes/graph/registered_ops.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/logging.h"

namespace hpu::passes {
namespace {

using Ops = std::vector<std::string>;

constexpr char kDefaultRecipe[] = "full";
const Ops& Recipes() {
  static const auto* recipes = new Ops{kDefaultRecipe, "basic", "bert", "unet2d"};
  return *recipes;
}

// The value of TF_BF16_CONVERSION, and the variable or option that set this value.
struct Choice {
  std::string variable;
  std::string value;  // empty: not set
};

Choice Chosen(bool amp_requested) {
  if (std::string value = flags::TfBf16Conversion(); !value.empty()) return {"TF_BF16_CONVERSION", std::move(value)};
  if (std::string value = flags::TfEnableBf16Conversion(); !value.empty()) {
    static std::once_flag once;
    std::call_once(once,
                   [] { LOG(WARNING) << "TF_ENABLE_BF16_CONVERSION is deprecated: use TF_BF16_CONVERSION instead"; });
    return {"TF_ENABLE_BF16_CONVERSION", std::move(value)};
  }
  if (amp_requested || flags::TfEnableAutoMixedPrecision() || flags::TfEnableAutoMixedPrecisionGraphRewrite()) {
    return {"automatic mixed precision", kDefaultRecipe};
  }
  return {};
}

// The path of the chosen configuration file; empty if the conversion is off.
std::string PathOf(const Choice& choice) {
  const std::string keyword = absl::AsciiStrToLower(choice.value);
  if (keyword.empty() || keyword == "0" || keyword == "false") return "";
  const std::string recipe = keyword == "1" || keyword == "true" ? kDefaultRecipe : keyword;
  if (!absl::c_linear_search(Recipes(), recipe)) return choice.value;
  return PackageFile(absl::StrCat("bf16_config/", recipe, ".json"));
}

// Changes to the lists, from TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_{ALLOW,INFER,DENY}LIST_{ADD,REMOVE}.
struct Adjustments {
  Ops allow_add = flags::TfAutoMixedPrecisionGraphRewriteAllowlistAdd();
  Ops allow_remove = flags::TfAutoMixedPrecisionGraphRewriteAllowlistRemove();
  Ops infer_add = flags::TfAutoMixedPrecisionGraphRewriteInferlistAdd();
  Ops infer_remove = flags::TfAutoMixedPrecisionGraphRewriteInferlistRemove();
  Ops deny_add = flags::TfAutoMixedPrecisionGraphRewriteDenylistAdd();
  Ops deny_remove = flags::TfAutoMixedPrecisionGraphRewriteDenylistRemove();

  std::string Key() const {
    std::string key;
    for (const Ops* list : {&allow_add, &allow_remove, &infer_add, &infer_remove, &deny_add, &deny_remove}) {
      absl::StrAppend(&key, "|", absl::StrJoin(*list, ","));
    }
    return key;
  }
};

// Adds `ops` to `list`. `setting` is the variable that lists `ops`; warnings about unknown ops name this variable.
void Add(const char* setting, const Ops& ops, Ops* list) {
  for (const std::string& op : ops) {
    WarnIfNoOp(setting, op);
    if (!absl::c_linear_search(*list, op)) list->push_back(op);
  }
}

void Remove(const Ops& ops, Ops* list) {
  list->erase(
      std::remove_if(list->begin(), list->end(), [&](const std::string& op) { return absl::c_linear_search(ops, op); }),
      list->end());
}

void Adjust(const Adjustments& adjustments, Bf16Config* config) {
  Ops denied = adjustments.deny_add;
  Remove(adjustments.deny_remove, &denied);
  Remove(adjustments.allow_remove, &config->allowlist);
  Add("TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_ALLOWLIST_ADD", adjustments.allow_add, &config->allowlist);
  for (Ops* list : {&config->conditional, &config->strict_conditional}) Remove(adjustments.infer_remove, list);
  Add("TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_INFERLIST_ADD", adjustments.infer_add, &config->conditional);
  for (Ops* list : {&config->allowlist, &config->conditional, &config->strict_conditional}) Remove(denied, list);
}

absl::Status DumpTo(const std::string& path, const Bf16Config& config) {
  const absl::Status written = tensorflow::WriteStringToFile(tensorflow::Env::Default(), path, config.ToJson());
  if (written.ok()) return written;
  return absl::InvalidArgumentError(absl::StrCat("cannot write TF_BF16_DUMP_PATH=", path, ": ", written.message(),
                                                 "; set TF_BF16_DUMP_PATH to a writable file"));
}

// Prefixes `status` with the setting and its value. If the file does not exist, appends the valid values.
absl::Status Explained(const absl::Status& status, const Choice& choice) {
  std::string advice;
  if (absl::IsNotFound(status)) {
    const std::string nearest = NearestName(choice.value, Recipes());
    advice = absl::StrCat("; expected 0, 1, ", absl::StrJoin(Recipes(), ", "), " or the path of a JSON file.",
                          nearest.empty() ? "" : absl::StrCat(" Did you mean ", nearest, "?"));
  }
  return absl::InvalidArgumentError(absl::StrCat(choice.variable, "=", choice.value, ": ", status.message(), advice));
}

// Warns about op types in the user's own file that TensorFlow does not have. Such an entry converts nothing.
void WarnAboutUnknownOps(const Choice& choice, const Bf16Config& config) {
  const std::string where = absl::StrCat(choice.variable, "=", choice.value);
  for (const Ops* list : {&config.allowlist, &config.conditional, &config.strict_conditional}) {
    for (const std::string& op : *list) WarnIfNoOp(where, op);
  }
}

// The latest configuration, and a key of the inputs that determined the configuration.
struct Cache {
  std::mutex mutex;
  std::string key;
  std::shared_ptr<const Bf16Config> config;
  std::string dumped;  // path and key of the latest dump
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Bf16Config>> ActiveBf16Config(bool amp_requested) {
  static auto* cache = new Cache();
  const Choice choice = Chosen(amp_requested);
  const std::string path = PathOf(choice);
  if (path.empty()) return nullptr;
  const Adjustments adjustments;
  const absl::StatusOr<std::string> text = ReadText(path);
  if (!text.ok()) return Explained(text.status(), choice);
  const std::string key = absl::StrCat(path, "|", adjustments.Key(), "|", *text);
  std::lock_guard<std::mutex> lock(cache->mutex);
  if (cache->config == nullptr || cache->key != key) {
    absl::StatusOr<Bf16Config> config = ParseBf16Config(*text, path);
    if (!config.ok()) return Explained(config.status(), choice);
    if (path == choice.value) WarnAboutUnknownOps(choice, *config);
    Adjust(adjustments, &*config);
    cache->config = std::make_shared<const Bf16Config>(*std::move(config));
    cache->key = key;
  }
  const std::string dump = flags::TfBf16DumpPath();
  if (const std::string dumped = absl::StrCat(dump, "|", key); !dump.empty() && cache->dumped != dumped) {
    HPU_RETURN_IF_ERROR(DumpTo(dump, *cache->config));
    cache->dumped = dumped;
  }
  return cache->config;
}

}  // namespace hpu::passes
