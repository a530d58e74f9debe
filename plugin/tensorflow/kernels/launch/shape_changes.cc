#include "plugin/tensorflow/kernels/launch/shape_changes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hpu {
namespace {

bool IsConstant(const ArgumentDescription& argument) { return argument.kind == ArgumentDescription::Kind::kConstant; }

std::string ToText(const ArgumentDescription& argument) {
  if (!argument.initialized) return "no value";
  if (IsConstant(argument)) return argument.constant.SummarizeValue(/*max_entries=*/8);
  return absl::StrCat(tensorflow::DataTypeString(argument.dtype), argument.shape.DebugString());
}

}  // namespace

void ShapeChanges::Add(std::vector<ArgumentDescription> arguments) {
  for (size_t i = 0; i < std::min(last_.size(), arguments.size()); ++i) Compare(i, last_[i], arguments[i]);
  last_ = std::move(arguments);
}

void ShapeChanges::Compare(int index, const ArgumentDescription& before, const ArgumentDescription& now) {
  const bool same_kind = before.dtype == now.dtype && before.shape.dims() == now.shape.dims() &&
                         before.initialized == now.initialized && !IsConstant(now);
  if (!same_kind) {
    std::string old_text = ToText(before), new_text = ToText(now);
    if (old_text != new_text) Record({index, kWhole}, std::move(old_text), std::move(new_text));
    return;
  }
  for (int i = 0; i < now.shape.dims(); ++i) {
    const int64_t old_size = before.shape.dim_size(i), new_size = now.shape.dim_size(i);
    if (old_size != new_size) Record({index, i}, absl::StrCat(old_size), absl::StrCat(new_size));
  }
}

void ShapeChanges::Record(Place place, std::string before, std::string now) {
  Change& change = changes_[place];
  ++change.times;
  // The previous value is already recorded unless this place is new.
  if (change.latest.empty()) change.latest.push_back(std::move(before));
  change.latest.push_back(std::move(now));
  if (change.latest.size() > kLatest) change.latest.pop_front();
}

std::string ShapeChanges::MostFrequent(const std::vector<std::string>& names) const {
  const auto most_frequent = std::max_element(
      changes_.begin(), changes_.end(), [](const auto& a, const auto& b) { return a.second.times < b.second.times; });
  if (most_frequent == changes_.end()) return "";
  const auto [argument, dimension] = most_frequent->first;
  const std::string what = dimension != kWhole           ? absl::StrCat("dimension ", dimension)
                           : IsConstant(last_[argument]) ? "the value"
                                                         : "the dtype or rank";
  return absl::StrCat(what, " of argument ", argument, ", ", names[argument], " (",
                      absl::StrJoin(most_frequent->second.latest, ", "), ")");
}

}  // namespace hpu
