#include "plugin/tensorflow/kernels/launch/compiled_signatures.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "plugin/base/flags/flags.h"
#include "plugin/tensorflow/kernels/kernel_arguments.h"

namespace hpu {
namespace {

// If there are objects for more clusters than this, those that no kernel uses are dropped.
constexpr size_t kClusters = 4096;

struct Clusters {
  using Key = std::tuple<std::string, int, uint64_t>;
  absl::Mutex mutex;
  absl::flat_hash_map<Key, std::shared_ptr<CompiledSignatures>> signatures ABSL_GUARDED_BY(mutex);
};

uint64_t HashOfVariables(const std::vector<ArgumentDescription>& arguments) {
  std::vector<ArgumentDescription> variables;
  absl::c_copy_if(arguments, std::back_inserter(variables), [](const ArgumentDescription& argument) {
    return argument.kind == ArgumentDescription::Kind::kVariable;
  });
  return absl::HashOf(SignatureOf(variables));
}

}  // namespace

std::shared_ptr<CompiledSignatures> CompiledSignatures::Of(const std::string& cluster, int arguments,
                                                           const passes::FunctionIdentity& identity) {
  static auto* clusters = new Clusters;
  absl::MutexLock lock(&clusters->mutex);
  if (clusters->signatures.size() >= kClusters) {
    absl::erase_if(clusters->signatures, [](const auto& item) { return item.second.use_count() == 1; });
  }
  std::shared_ptr<CompiledSignatures>& found = clusters->signatures[{cluster, arguments, identity.ops}];
  if (found == nullptr) found = std::make_shared<CompiledSignatures>();
  return found;
}

void CompiledSignatures::Add(uint64_t content, const std::vector<ArgumentDescription>& arguments,
                             double compile_seconds) {
  absl::MutexLock lock(&mutex_);
  longest_compile_seconds_ = std::max(longest_compile_seconds_, compile_seconds);
  variables_.insert(HashOfVariables(arguments));
  signatures_.insert(absl::HashOf(content, SignatureOf(arguments)));
  missing_ = std::max(0, missing_ - 1);
}

void CompiledSignatures::AddCompileTime(double seconds) {
  absl::MutexLock lock(&mutex_);
  longest_compile_seconds_ = std::max(longest_compile_seconds_, seconds);
}

double CompiledSignatures::longest_compile_seconds() const {
  absl::MutexLock lock(&mutex_);
  return longest_compile_seconds_;
}

void CompiledSignatures::Count(uint64_t content, const std::vector<ArgumentDescription>& arguments,
                               ClusterCounts* counts) {
  absl::MutexLock lock(&mutex_);
  counts->longest_compile_seconds = longest_compile_seconds_;
  counts->is_first = !variables_.contains(HashOfVariables(arguments));
  counts->is_known = signatures_.contains(absl::HashOf(content, SignatureOf(arguments)));
  if (counts->is_first || counts->is_known || counts->fallbacks > 0 || missing_ == kMissingLookups) return;
  if (flags::TfRecipeCachePath().empty()) return;
  counts->may_be_stored = true;
  ++missing_;
}

}  // namespace hpu
