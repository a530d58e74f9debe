#include "plugin/compiler/background/compile_times.h"

#include "absl/status/statusor.h"
#include "plugin/base/flags/flags.h"
#include "plugin/recipes/listing.h"
#include "plugin/recipes/store_directory.h"

namespace hpu {

CompileTimes& CompileTimes::Get() {
  static auto* times = new CompileTimes;
  return *times;
}

std::optional<absl::Duration> CompileTimes::Find(const std::string& cluster) {
  {
    absl::MutexLock lock(&mutex_);
    if (const auto found = times_.find(cluster); found != times_.end()) return found->second;
  }
  const std::string path = flags::TfRecipeCachePath();
  if (path.empty()) return std::nullopt;
  const absl::StatusOr<recipes::StoreDirectory> directory = recipes::StoreDirectory::Open(path, /*make=*/false);
  return directory.ok() ? recipes::LastCompileTime(*directory, cluster) : std::nullopt;
}

void CompileTimes::Set(const std::string& cluster, absl::Duration time) {
  absl::MutexLock lock(&mutex_);
  times_[cluster] = time;
}

}  // namespace hpu
