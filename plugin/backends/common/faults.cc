#include "plugin/backends/common/faults.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "plugin/flags/flags.h"
#include "plugin/log/log.h"

namespace hpu::common {
namespace {

constexpr const char* kNames[] = {"launch", "copy", "fill", "compile", "allocate", "lost"};
static_assert(std::size(kNames) == Faults::kKinds);

}  // namespace

absl::StatusOr<Faults> Faults::Parse(const std::vector<std::string>& entries) {
  Faults faults;
  for (const std::string& entry : entries) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(entry, absl::MaxSplits('@', 1));
    const auto name = std::find(std::begin(kNames), std::end(kNames), parts.first);
    absl::string_view number = parts.second;
    const bool onwards = absl::ConsumeSuffix(&number, "+");
    uint64_t first = 0;
    if (name == std::end(kNames) || !absl::SimpleAtoi(number, &first) || first == 0) {
      return absl::InvalidArgumentError(absl::StrCat("HPU_EMULATOR_FAULTS: \"", entry,
                                                     "\" is not kind@n or kind@n+ with n from 1 and a kind of launch, "
                                                     "copy, fill, compile, allocate, lost"));
    }
    faults.rules_.push_back(Rule{static_cast<Kind>(name - std::begin(kNames)), first, onwards});
  }
  return faults;
}

absl::StatusOr<Faults> Faults::Of(const hal::AcquireOptions& options) {
  return Parse(options.faults.has_value() ? *options.faults : flags::EmulatorFaults());
}

absl::Status Faults::CountCommandSlow(Kind kind, Liveness& liveness) {
  if (absl::Status lost = CountSlow(kLost); !lost.ok()) {
    HPU_LOG(kBackend, kCritical) << lost.message();
    liveness.MarkLost();
    return lost;
  }
  return CountSlow(kind);
}

absl::Status Faults::CountSlow(Kind kind) {
  const uint64_t number = counts_[kind].fetch_add(1, std::memory_order_relaxed) + 1;
  for (const Rule& rule : rules_) {
    if (rule.kind != kind || (rule.onwards ? number < rule.first : number != rule.first)) continue;
    const std::string text = absl::StrCat("fault asked for by HPU_EMULATOR_FAULTS: ", kNames[kind], "@", number);
    return kind == kLost ? absl::AbortedError(absl::StrCat("the HPU is lost: ", text)) : absl::InternalError(text);
  }
  return absl::OkStatus();
}

}  // namespace hpu::common
