#include "plugin/tensorflow/kernels/launch/bounded_recipes.h"

#include <algorithm>
#include <optional>

#include "plugin/base/log/log.h"
#include "plugin/tensorflow/kernels/kernel_arguments.h"
#include "tensorflow/core/platform/logging.h"
#include "tsl/platform/hash.h"

namespace hpu {
namespace {

constexpr int kRefusals = 3;  // number of refusals after which no bounded recipe is tried
constexpr double kMostCpuSeconds = 3600;
constexpr int64_t kMostCpuRuns = 1'000'000'000;

}  // namespace

uint64_t BoundedRecipes::FingerprintOf(const Key& key) {
  const auto& [signature, symbols] = key;
  const uint64_t words[] = {signature.Fingerprint(), tsl::Hash64(reinterpret_cast<const char*>(symbols.data()),
                                                                 symbols.size() * sizeof(symbols[0]))};
  return tsl::Hash64(reinterpret_cast<const char*>(words), sizeof(words));
}

BoundedRecipes::Key BoundedRecipes::KeyOf(const BoundedArguments& arguments) {
  std::vector<int64_t> symbols;
  for (const SizeRange& range : arguments.symbols) symbols.insert(symbols.end(), {range.min, range.max});
  for (const SymbolicNumber& number : arguments.numbers) {
    symbols.insert(symbols.end(), {number.argument, number.position, number.symbol, number.offset});
  }
  return {SignatureOf(arguments.arguments), std::move(symbols)};
}

std::shared_ptr<FasterWay> BoundedRecipes::Bucket::Way() {
  absl::MutexLock lock(&mutex_);
  if (!way_.has_value()) {
    const int64_t runs = cpu_runs();
    way_ = runs > 0 ? std::make_shared<FasterWay>(absl::Seconds(cpu_seconds() / runs)) : nullptr;
  }
  return *way_;
}

std::shared_ptr<BoundedRecipes::Bucket> BoundedRecipes::Find(const std::vector<ArgumentDescription>& arguments) {
  absl::MutexLock lock(&mutex_);
  std::optional<BoundedArguments> bounded = history_.Add(arguments);
  if (!bounded.has_value() || refusals_ >= kRefusals) return nullptr;
  const Key key = KeyOf(*bounded);
  if (std::shared_ptr<Bucket> bucket = buckets_.Find(key)) return bucket;
  return buckets_.Add(key, MakeBucket(*std::move(bounded), FingerprintOf(key)));
}

std::shared_ptr<BoundedRecipes::Bucket> BoundedRecipes::MakeBucket(BoundedArguments arguments, uint64_t fingerprint) {
  auto bucket = std::make_shared<Bucket>(std::move(arguments), fingerprint);
  if (const auto notes = earlier_.find(fingerprint); notes != earlier_.end()) {
    if (notes->second.compiled()) bucket->SetStored();
    bucket->AddCpuTime(absl::Seconds(std::clamp(notes->second.cpu_seconds(), 0.0, kMostCpuSeconds)),
                       std::clamp<int64_t>(notes->second.cpu_runs(), 0, kMostCpuRuns));
  }
  return bucket;
}

absl::StatusOr<std::shared_ptr<Executable>> BoundedRecipes::Compile(hal::Device& device, const ClusterSource& source,
                                                                    const std::vector<ArgumentDescription>& arguments,
                                                                    const std::atomic<bool>* cancelled,
                                                                    bool only_stored, Bucket& bucket) {
  absl::StatusOr<std::shared_ptr<Executable>> executable =
      bucket.recipe().MakeExecutable(device, source, arguments, cancelled, only_stored);
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
    if (++refusals_ == kRefusals) buckets_.Clear();
  }
  VLOG(1) << source.name << ": no bounded recipe: " << reason;
  HPU_LOG(kKernels, kInfo) << source.name << ": no bounded recipe: " << reason.message();
}

bool BoundedRecipes::Save(recipe::v1::ClusterNotes* notes) const {
  absl::MutexLock lock(&mutex_);
  absl::flat_hash_map<uint64_t, BucketNotes> saved = earlier_;
  buckets_.ForEach([&saved](const std::shared_ptr<Bucket>& bucket) {
    BucketNotes& of_bucket = saved[bucket->fingerprint()];
    of_bucket.set_fingerprint(bucket->fingerprint());
    of_bucket.set_compiled(of_bucket.compiled() || bucket->recipe().compiled());
    of_bucket.set_cpu_seconds(bucket->cpu_seconds());
    of_bucket.set_cpu_runs(bucket->cpu_runs());
  });
  for (auto& [fingerprint, of_bucket] : saved) {
    if (static_cast<size_t>(notes->buckets_size()) < kBuckets) *notes->add_buckets() = std::move(of_bucket);
  }
  notes->set_refusals(refusals_);
  notes->set_refusal(refusal_);
  return history_.Save(notes);
}

void BoundedRecipes::Load(const recipe::v1::ClusterNotes& notes) {
  absl::MutexLock lock(&mutex_);
  history_.Load(notes);
  for (const BucketNotes& of_bucket : notes.buckets()) earlier_[of_bucket.fingerprint()] = of_bucket;
  refusals_ = std::max(refusals_, notes.refusals());
  refusal_ = notes.refusal();
}

std::string BoundedRecipes::refusal() const {
  absl::MutexLock lock(&mutex_);
  return refusal_;
}

}  // namespace hpu
