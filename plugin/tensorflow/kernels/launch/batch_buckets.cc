#include "plugin/tensorflow/kernels/launch/batch_buckets.h"

#include "absl/algorithm/container.h"
#include "plugin/base/log/log.h"
#include "plugin/tensorflow/kernels/kernel_arguments.h"
#include "tensorflow/core/platform/logging.h"
#include "tsl/platform/errors.h"
#include "tsl/platform/statusor.h"

namespace hpu {
namespace {

using Arguments = std::vector<ArgumentDescription>;

constexpr size_t kSeen = 16;          // number of remembered signatures
constexpr int kSignaturesBefore = 2;  // number of signatures before the first padded signature
constexpr int kRefusals = 3;          // number of refusals after which no rows are padded

bool SameButSizes(const ArgumentDescription& a, const ArgumentDescription& b) {
  if (a.kind != b.kind || a.dtype != b.dtype || a.initialized != b.initialized || a.same_as != b.same_as ||
      a.shape.dims() != b.shape.dims()) {
    return false;
  }
  if (a.kind == ArgumentDescription::Kind::kParameter) return true;
  // Variables and compile-time constants are never padded.
  return a.shape == b.shape &&
         (a.kind != ArgumentDescription::Kind::kConstant || a.constant.tensor_data() == b.constant.tensor_data());
}

}  // namespace

int64_t BucketSize(int64_t rows) {
  int64_t bucket = 1;
  while (bucket < rows) {
    if (bucket + bucket / 2 >= rows) return bucket + bucket / 2;
    bucket *= 2;
  }
  return bucket;
}

BatchBuckets::Dimensions BatchBuckets::Difference(const Arguments& a, const Arguments& b) {
  Dimensions dimensions;
  int64_t size = 0, other_size = 0;
  for (int i = 0; i < static_cast<int>(a.size()); ++i) {
    if (!SameButSizes(a[i], b[i])) return {};
    for (int d = 0; d < a[i].shape.dims(); ++d) {
      if (a[i].shape.dim_size(d) == b[i].shape.dim_size(d)) continue;
      if (dimensions.empty()) {
        size = a[i].shape.dim_size(d);
        other_size = b[i].shape.dim_size(d);
      }
      if (a[i].shape.dim_size(d) != size || b[i].shape.dim_size(d) != other_size) return {};
      dimensions.emplace_back(i, d);
    }
  }
  return dimensions;
}

BatchBuckets::Dimensions BatchBuckets::RowsOf(const Arguments& arguments) const {
  std::vector<Dimensions> differences;
  for (const Arguments& other : seen_) {
    Dimensions difference = Difference(arguments, other);
    if (!difference.empty()) differences.push_back(std::move(difference));
  }
  const auto often = absl::c_find_if(differences, [&](const Dimensions& difference) {
    return absl::c_count(differences, difference) >= kSignaturesBefore;
  });
  return often == differences.end() ? Dimensions() : *often;
}

std::optional<BatchBuckets::Bucket> BatchBuckets::FindBucket(const Arguments& arguments) {
  if (refusals_ >= kRefusals) return std::nullopt;
  const Dimensions dimensions = RowsOf(arguments);
  if (dimensions.empty()) return std::nullopt;
  Bucket bucket;
  bucket.rows = arguments[dimensions.front().first].shape.dim_size(dimensions.front().second);
  if (bucket.rows == 0) return std::nullopt;  // no row to repeat
  const int64_t padded_rows = BucketSize(bucket.rows);
  Arguments padded = arguments;
  for (const auto& [input, dimension] : dimensions) padded[input].shape.set_dim(dimension, padded_rows);
  std::shared_ptr<PaddedRecipe>& recipe = buckets_[SignatureOf(padded)];
  if (recipe == nullptr) recipe = std::make_shared<PaddedRecipe>(std::move(padded), padded_rows);
  bucket.recipe = recipe;
  return bucket;
}

BatchBuckets::Rows BatchBuckets::Lookup(const Arguments& arguments) {
  absl::MutexLock lock(&mutex_);
  const std::optional<Bucket> bucket = FindBucket(arguments);
  const recipes::Signature signature = SignatureOf(arguments);
  if (absl::c_none_of(seen_, [&](const Arguments& other) { return SignatureOf(other) == signature; })) {
    seen_.push_back(arguments);
    if (seen_.size() > kSeen) seen_.pop_front();
  }
  if (!bucket) return Rows::kUnknown;
  return bucket->recipe->compiled() ? Rows::kCompiled : Rows::kKnown;
}

absl::StatusOr<std::shared_ptr<Executable>> BatchBuckets::Compile(hal::Device& device, const ClusterSource& source,
                                                                  const Arguments& arguments,
                                                                  const std::atomic<bool>* cancelled) {
  std::optional<Bucket> bucket;
  {
    absl::MutexLock lock(&mutex_);
    bucket = FindBucket(arguments);
  }
  absl::StatusOr<std::shared_ptr<Executable>> executable =
      absl::FailedPreconditionError("the arguments have no row dimension");
  if (bucket) {
    executable = bucket->recipe->MakeExecutable(device, source, arguments, bucket->rows, cancelled);
    if (absl::IsCancelled(executable.status())) return executable;
    if (!executable.ok()) Refuse(source, executable.status());
  }
  if (!executable.ok()) executable = CompileCluster(device, source, arguments, cancelled);
  if (!executable.ok() || (*executable)->recipe == nullptr) return executable;
  absl::MutexLock lock(&mutex_);
  (*executable)->shares_recipe = !recipes_.insert((*executable)->recipe.get()).second;
  return executable;
}

void BatchBuckets::Refuse(const ClusterSource& source, const absl::Status& reason) {
  {
    absl::MutexLock lock(&mutex_);
    refusal_ = std::string(reason.message());
    if (++refusals_ == kRefusals) buckets_.clear();
  }
  VLOG(1) << source.name << ": rows are not padded: " << reason;
  HPU_LOG(kKernels, kInfo) << source.name << ": rows are not padded: " << reason.message();
}

std::string BatchBuckets::refusal() const {
  absl::MutexLock lock(&mutex_);
  return refusal_;
}

}  // namespace hpu
