#include "plugin/testing/synapse_double/graph/recipe.h"

#include <atomic>
#include <utility>

namespace hpu::synapse_double {
namespace {

uint64_t FirstId() {
  static std::atomic<uint64_t> recipes{0};
  return ++recipes << 24 | 5;
}

}  // namespace

Recipe::Recipe(RecipeData data) : data_(std::move(data)), first_id_(FirstId()), is_cleared_(data_.sections.size()) {}

int32_t Recipe::LaunchTensorOfId(uint64_t id) const {
  if (id < first_id_ || (id - first_id_) % kIdStep != 0) return kNoIndex;
  const uint64_t i = (id - first_id_) / kIdStep;
  return i < data_.launch_tensors.size() ? static_cast<int32_t>(i) : kNoIndex;
}

int32_t Recipe::LaunchTensorOfName(const std::string& name) const {
  for (size_t i = 0; i < data_.launch_tensors.size(); ++i) {
    if (LaunchTensor(i).name == name) return static_cast<int32_t>(i);
  }
  return kNoIndex;
}

void Recipe::ClearSection(size_t section) {
  const std::lock_guard lock(mutex_);
  is_cleared_[section] = true;
}

const void* Recipe::SectionData(size_t section) {
  const std::lock_guard lock(mutex_);
  return is_cleared_[section] ? nullptr : data_.sections[section].data.data();
}

}  // namespace hpu::synapse_double
