#include "plugin/backends/common/faults.h"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/log/log.h"
#include "plugin/base/status_macros.h"

namespace hpu::common {
namespace {

// Longer delays would look like a hung server and would delay its shutdown.
constexpr std::chrono::milliseconds kMaxDelay(10'000);

// Properties of a Faults::Kind, the index into kInfos.
struct KindInfo {
  const char* name;
  absl::StatusCode code;  // kOk: the event is only delayed
  Faults::Kind also;      // related kind, counted next unless this one fails; kKinds: none
};
constexpr KindInfo kInfos[] = {
    {"launch", absl::StatusCode::kInternal, Faults::kOutOfMemory},
    {"copy", absl::StatusCode::kInternal, Faults::kSlowCopy},
    {"fill", absl::StatusCode::kInternal, Faults::kKinds},
    {"out_of_memory", absl::StatusCode::kResourceExhausted, Faults::kKinds},
    {"slow_copy", absl::StatusCode::kOk, Faults::kKinds},
    {"lost", absl::StatusCode::kAborted, Faults::kKinds},
    {"compile", absl::StatusCode::kInternal, Faults::kSlowCompile},
    {"slow_compile", absl::StatusCode::kOk, Faults::kKinds},
    {"allocate", absl::StatusCode::kInternal, Faults::kKinds},
    {"busy", absl::StatusCode::kUnavailable, Faults::kKinds},
    {"drop", absl::StatusCode::kUnavailable, Faults::kDelay},
    {"delay", absl::StatusCode::kOk, Faults::kKinds},
    {"silence", absl::StatusCode::kUnavailable, Faults::kKinds},
    {"compiler_crash", absl::StatusCode::kInternal, Faults::kKinds},
    {"compiler_hang", absl::StatusCode::kInternal, Faults::kKinds},
};
static_assert(std::size(kInfos) == Faults::kKinds);

// SplitMix64: every input bit affects every output bit.
uint64_t Mix(uint64_t value) {
  value += 0x9E3779B97F4A7C15;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

absl::Status InvalidEntry(absl::string_view entry) {
  return absl::InvalidArgumentError(absl::StrCat(
      "HPU_FAULTS: invalid entry \"", entry,
      "\": expected seed=n, kind@n, kind@n+ or kind%p, where n is at least 1, p is greater than 0 and at most 1, and "
      "kind is "
      "one of ",
      absl::StrJoin(kInfos, ", ", [](std::string* out, const KindInfo& info) { absl::StrAppend(out, info.name); }),
      "; slow_copy, slow_compile and delay require :milliseconds at the end, at most ", kMaxDelay.count()));
}

}  // namespace

bool Faults::ParseRule(const std::string& entry, Rule* rule) {
  absl::string_view text = entry;
  const size_t name_end = text.find_first_of("@%");
  if (name_end == absl::string_view::npos) return false;
  const absl::string_view name = text.substr(0, name_end);
  const auto info =
      std::find_if(std::begin(kInfos), std::end(kInfos), [&](const KindInfo& known) { return known.name == name; });
  if (info == std::end(kInfos)) return false;
  rule->kind = static_cast<Kind>(info - std::begin(kInfos));
  const bool by_number = text[name_end] == '@';
  text.remove_prefix(name_end + 1);

  std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits('#', 1));
  if (absl::StrContains(text, '#') && (!absl::SimpleAtoi(parts.second, &rule->session) || rule->session == 0)) {
    return false;
  }
  const std::pair<absl::string_view, absl::string_view> when = absl::StrSplit(parts.first, absl::MaxSplits(':', 1));
  if (absl::StrContains(parts.first, ':') != (info->code == absl::StatusCode::kOk)) return false;
  if (info->code == absl::StatusCode::kOk) {
    uint32_t milliseconds = 0;
    if (!absl::SimpleAtoi(when.second, &milliseconds) || milliseconds > kMaxDelay.count()) return false;
    rule->delay = std::chrono::milliseconds(milliseconds);
  }
  absl::string_view number = when.first;
  if (!by_number) {
    return absl::SimpleAtod(number, &rule->probability) && rule->probability > 0 && rule->probability <= 1;
  }
  rule->onwards = absl::ConsumeSuffix(&number, "+");
  return absl::SimpleAtoi(number, &rule->first) && rule->first > 0;
}

absl::StatusOr<Faults> Faults::Parse(const std::vector<std::string>& entries) {
  Faults faults;
  for (const std::string& entry : entries) {
    absl::string_view text = entry;
    if (absl::ConsumePrefix(&text, "seed=")) {
      if (!absl::SimpleAtoi(text, &faults.seed_)) return InvalidEntry(entry);
    } else if (absl::ConsumePrefix(&text, "session=")) {
      if (!absl::SimpleAtoi(text, &faults.session_)) return InvalidEntry(entry);
    } else {
      Rule rule;
      if (!ParseRule(entry, &rule)) return InvalidEntry(entry);
      faults.rules_.push_back(rule);
    }
  }
  // Drops the rules for other sessions.
  faults.rules_.erase(
      std::remove_if(faults.rules_.begin(), faults.rules_.end(),
                     [&](const Rule& rule) { return rule.session != 0 && rule.session != faults.session_; }),
      faults.rules_.end());
  return faults;
}

absl::StatusOr<Faults> Faults::Of(const hal::AcquireOptions& options) {
  return Parse(options.faults.has_value() ? *options.faults : flags::Faults());
}

absl::Status Faults::CountCommandSlow(Kind kind, hal::StreamKind stream, Liveness& liveness) {
  if (absl::Status lost = CountSlow(kLost, stream); !lost.ok()) {
    HPU_LOG(kBackend, kCritical) << lost.message();
    liveness.MarkLost();
    return lost;
  }
  return CountSlow(kind, stream);
}

bool Faults::Hits(size_t rule, uint64_t number, hal::StreamKind stream, uint64_t number_on_stream) const {
  const Rule& asked = rules_[rule];
  if (asked.first != 0) return asked.onwards ? number >= asked.first : number == asked.first;
  uint64_t drawn = Mix(seed_);
  for (const uint64_t value : {session_, uint64_t{rule}, static_cast<uint64_t>(stream), number_on_stream}) {
    drawn = Mix(drawn ^ value);
  }
  // drawn >> 11 has 53 bits, as many as a double's mantissa.
  return static_cast<double>(drawn >> 11) < asked.probability * static_cast<double>(uint64_t{1} << 53);
}

absl::Status Faults::CountSlow(Kind kind, hal::StreamKind stream) {
  const KindInfo& info = kInfos[kind];
  const uint64_t number = counts_[kind].fetch_add(1, std::memory_order_relaxed) + 1;
  const uint64_t number_on_stream =
      stream_counts_[kind][static_cast<size_t>(stream)].fetch_add(1, std::memory_order_relaxed) + 1;
  for (size_t i = 0; i < rules_.size(); ++i) {
    if (rules_[i].kind != kind || !Hits(i, number, stream, number_on_stream)) continue;
    const std::string text = absl::StrCat("injected fault: ", info.name, "@", number);
    if (info.code == absl::StatusCode::kOk) {
      HPU_LOG(kBackend, kInfo) << text;
      std::this_thread::sleep_for(rules_[i].delay);
      continue;
    }
    if (kind == kLost) return absl::AbortedError(absl::StrCat("the HPU is lost: ", text));
    if (kind == kOutOfMemory) return absl::ResourceExhaustedError(absl::StrCat("out of device memory: ", text));
    return absl::Status(info.code, text);
  }
  return info.also == kKinds ? absl::OkStatus() : CountSlow(info.also, stream);
}

}  // namespace hpu::common
