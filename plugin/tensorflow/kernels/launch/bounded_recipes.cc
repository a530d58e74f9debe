#include "plugin/tensorflow/kernels/launch/bounded_recipes.h"

#include <optional>

#include "plugin/base/log/log.h"
#include "plugin/tensorflow/kernels/kernel_arguments.h"
#include "tensorflow/core/platform/logging.h"

namespace hpu {
namespace {

constexpr int kRefusals = 3;  // number of refusals after which no bounded recipe is tried

}  // namespace

BoundedRecipes::Key BoundedRecipes::KeyOf(const BoundedArguments& arguments) {
  std::vector<int64_t> symbols;
  for (const SizeRange& range : arguments.symbols) symbols.insert(symbols.end(), {range.min, range.max});
  for (const SymbolicNumber& number : arguments.numbers) {
    symbols.insert(symbols.end(), {number.argument, number.position, number.symbol, number.offset});
  }
  return {SignatureOf(arguments.arguments), std::move(symbols)};
}

std::shared_ptr<BoundedRecipes::Bucket> BoundedRecipes::Find(const std::vector<ArgumentDescription>& arguments) {
  absl::MutexLock lock(&mutex_);
  std::optional<BoundedArguments> bounded = history_.Add(arguments);
  if (!bounded.has_value() || refusals_ >= kRefusals) return nullptr;
  std::shared_ptr<Bucket>& bucket = buckets_[KeyOf(*bounded)];
  if (bucket == nullptr) bucket = std::make_shared<Bucket>(*std::move(bounded));
  return bucket;
}

absl::StatusOr<std::shared_ptr<Executable>> BoundedRecipes::Compile(hal::Device& device, const ClusterSource& source,
                                                                    const std::vector<ArgumentDescription>& arguments,
                                                                    const std::atomic<bool>* cancelled,
                                                                    Bucket& bucket) {
  absl::StatusOr<std::shared_ptr<Executable>> executable =
      bucket.recipe().MakeExecutable(device, source, arguments, cancelled);
  const absl::Status& status = executable.status();
  // The bucket's recipe does not fit these sizes, but others.
  const bool fits_others = absl::IsFailedPrecondition(status) && bucket.recipe().compiled();
  if (!status.ok() && !absl::IsCancelled(status) && !fits_others) Refuse(source, status);
  return executable;
}

void BoundedRecipes::Refuse(const ClusterSource& source, const absl::Status& reason) {
  {
    absl::MutexLock lock(&mutex_);
    refusal_ = std::string(reason.message());
    if (++refusals_ == kRefusals) buckets_.clear();
  }
  VLOG(1) << source.name << ": no bounded recipe: " << reason;
  HPU_LOG(kKernels, kInfo) << source.name << ": no bounded recipe: " << reason.message();
}

std::string BoundedRecipes::refusal() const {
  absl::MutexLock lock(&mutex_);
  return refusal_;
}

}  // namespace hpu
