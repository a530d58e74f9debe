#include "plugin/tensorflow/kernels/op_counters.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/json/json.h"
#include "plugin/passes/graph/graph_util.h"

namespace hpu {
namespace {

template <typename Counts>
std::string CountsJson(const Counts& counts) {
  return JsonList(counts, [](std::string* out, const auto& entry) {
    const auto& [record, name] = entry.first;
    absl::StrAppend(out, "{\"record\":", record, ",\"name\":", JsonQuote(name), ",\"times\":", entry.second.times,
                    ",\"bytes\":", entry.second.bytes, "}");
  });
}

}  // namespace

int64_t RecordOf(const tensorflow::NodeDef& node) {
  const auto found = node.attr().find(passes::kRecordAttr);
  return found == node.attr().end() ? 0 : found->second.i();
}

OpCounters& OpCounters::Get() {
  static auto* counters = new OpCounters;
  return *counters;
}

void OpCounters::Collect(bool collect) {
  absl::MutexLock lock(&mutex_);
  if (collect) {
    host_runs_.clear();
    copies_.clear();
    failures_.clear();
  }
  collects_ = collect;
}

void OpCounters::Record(Counts* counts, int64_t record, const std::string& name, int64_t bytes) {
  absl::MutexLock lock(&mutex_);
  Count& count = (*counts)[{record, name}];
  ++count.times;
  count.bytes += bytes;
}

void OpCounters::RecordFailure(Failure failure) {
  absl::MutexLock lock(&mutex_);
  const bool known = absl::c_any_of(failures_, [&](const Failure& other) {
    return other.record == failure.record && other.cluster == failure.cluster && other.rule == failure.rule;
  });
  if (!known) failures_.push_back(std::move(failure));
}

std::string OpCounters::ToJsonMembers() const {
  absl::MutexLock lock(&mutex_);
  const std::string failures = JsonList(failures_, [](std::string* out, const Failure& failure) {
    absl::StrAppend(out, "{\"record\":", failure.record, ",\"cluster\":", JsonQuote(failure.cluster),
                    ",\"rule\":", JsonQuote(failure.rule), ",\"nodes\":", JsonStrings(failure.nodes),
                    ",\"reason\":", JsonQuote(failure.reason), "}");
  });
  return absl::StrCat("\"host_runs\":", CountsJson(host_runs_), ",\"copies\":", CountsJson(copies_),
                      ",\"failures\":", failures);
}

}  // namespace hpu
