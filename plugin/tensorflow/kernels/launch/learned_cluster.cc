#include "plugin/tensorflow/kernels/launch/learned_cluster.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/flags/flags.h"
#include "plugin/compiler/recipe_cache.h"
#include "plugin/recipes/disk_cache.h"

namespace hpu {
namespace {

struct Live {
  const int pid = getpid();        // a forked child saves nothing
  std::atomic<bool> exits{false};  // static objects are being destroyed, so clusters save nothing more
  absl::Mutex mutex;
  absl::flat_hash_map<const LearnedCluster*, std::weak_ptr<LearnedCluster>> clusters ABSL_GUARDED_BY(mutex);
};

Live& GetLive() {
  static auto* live = [] {
    std::atexit([] { GetLive().exits = true; });
    return new Live;
  }();
  return *live;
}

}  // namespace

LearnedCluster::LearnedCluster(const std::string& cluster, int arguments, const passes::FunctionIdentity& identity)
    : cluster_(cluster),
      subject_(absl::StrCat(cluster, ", ", arguments, " arguments, content ", absl::Hex(identity.content))),
      signatures_(CompiledSignatures::Of(cluster, arguments, identity)) {}

std::shared_ptr<LearnedCluster> LearnedCluster::Make(const std::string& cluster, int arguments,
                                                     const passes::FunctionIdentity& identity) {
  std::shared_ptr<LearnedCluster> learned(new LearnedCluster(cluster, arguments, identity));
  Live& live = GetLive();
  absl::MutexLock lock(&live.mutex);
  live.clusters.emplace(learned.get(), learned);
  return learned;
}

LearnedCluster::~LearnedCluster() {
  Live& live = GetLive();
  if (live.exits) return;
  Save();
  absl::MutexLock lock(&live.mutex);
  live.clusters.erase(this);
}

void LearnedCluster::Load(const hal::Device& device) {
  absl::MutexLock lock(&mutex_);
  if (key_.has_value()) return;
  key_ = NotesKeyOf(device, subject_);
  notes_ = recipes::DiskCache::Get().ReadNotes(*key_).value_or("");
  recipe::v1::ClusterNotes notes;
  if (notes_.empty() || !notes.ParseFromString(notes_)) return;
  signatures_->AddCompileTime(notes.longest_compile_seconds());
  bounded_recipes_->Load(notes);
  split_times_.Load(notes);
}

void LearnedCluster::Save() {
  if (flags::TfRecipeCachePath().empty() || GetLive().pid != getpid()) return;
  absl::MutexLock lock(&mutex_);
  if (!key_.has_value()) return;
  recipe::v1::ClusterNotes notes;
  notes.set_longest_compile_seconds(signatures_->longest_compile_seconds());
  const bool changes = bounded_recipes_->Save(&notes);
  const bool was_split = split_times_.Save(&notes);
  if (!changes && !was_split) return;
  std::string bytes = notes.SerializeAsString();
  if (bytes == notes_) return;
  notes_ = std::move(bytes);
  recipes::DiskCache::Get().WriteNotes(*key_, cluster_, notes_);
}

void LearnedCluster::SaveAll() {
  std::vector<std::shared_ptr<LearnedCluster>> clusters;
  {
    Live& live = GetLive();
    absl::MutexLock lock(&live.mutex);
    for (const auto& [address, cluster] : live.clusters) clusters.push_back(cluster.lock());
  }
  for (const std::shared_ptr<LearnedCluster>& cluster : clusters) {
    if (cluster != nullptr) cluster->Save();
  }
}

}  // namespace hpu
