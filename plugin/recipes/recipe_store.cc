#include "plugin/recipes/recipe_store.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "plugin/base/status_macros.h"
#include "plugin/recipes/cleaning.h"
#include "plugin/recipes/file_names.h"

namespace hpu::recipes {
namespace {

using files::FileDescriptor;
using files::LockAttempt;
using files::LockHolder;

constexpr absl::Duration kFirstPoll = absl::Milliseconds(5);
constexpr absl::Duration kLongestPoll = absl::Milliseconds(100);
constexpr absl::Duration kQuietWait = absl::Seconds(2);
constexpr absl::Duration kReportInterval = absl::Seconds(30);

std::string DescribeEntry(const LockHolder& holder) {
  return holder.pid == 0 ? "another process" : absl::StrCat("process ", holder.pid, " (", holder.command, ")");
}

}  // namespace

RecipeStore::Lookup RecipeStore::FindOrClaim(const Key& key, absl::string_view name,
                                             const std::atomic<bool>* cancelled) {
  const absl::Time start = absl::Now();
  absl::Duration poll = kFirstPoll;
  absl::Time next_report = start + kQuietWait;
  LockHolder holder;
  while (true) {
    // Opened in each iteration, because the directory may be removed during the wait.
    absl::StatusOr<StoreDirectory> directory = StoreDirectory::Open(settings_.path, !settings_.read_only);
    if (!directory.ok()) {
      WarnNotKept(directory.status());
      return {};
    }
    CleanOnce(*directory);
    // Tries without the lock first: reading an existing entry needs no lock.
    std::optional<std::string> payload = Find(*directory, key);
    std::optional<Claim> claim;
    if (!payload.has_value()) {
      claim = TryClaim(*directory, key, &holder);
      // The lock's previous holder may just have stored the entry.
      if (claim.has_value()) payload = Find(*directory, key);
    }
    const absl::Duration waited = absl::Now() - start;
    if (payload.has_value() || claim.has_value()) {
      if (poll > kFirstPoll) counters_.wait_microseconds.fetch_add(absl::ToInt64Microseconds(waited));
      (payload.has_value() ? counters_.hits : counters_.misses).fetch_add(1, std::memory_order_relaxed);
      return {std::move(payload), payload.has_value() ? Claim() : *std::move(claim)};
    }
    if (cancelled != nullptr && cancelled->load(std::memory_order_relaxed)) return {};
    if (waited >= settings_.lock_timeout) {
      warn_(absl::StrCat(name, ": ", DescribeEntry(holder), " has been compiling this recipe for more than ",
                         absl::FormatDuration(settings_.lock_timeout),
                         " (HPU_RECIPE_LOCK_TIMEOUT_S); this process compiles the recipe as well"));
      counters_.misses.fetch_add(1, std::memory_order_relaxed);
      return {};
    }
    if (poll == kFirstPoll) counters_.waits.fetch_add(1, std::memory_order_relaxed);
    if (absl::Now() >= next_report) {
      warn_(absl::StrCat(name, ": this process has waited ",
                         absl::FormatDuration(absl::Floor(waited, absl::Seconds(1))), " for ", DescribeEntry(holder),
                         " to compile this recipe"));
      next_report += kReportInterval;
    }
    absl::SleepFor(std::min(poll, start + settings_.lock_timeout - absl::Now()));
    poll = std::min(poll * 2, kLongestPoll);
  }
}

std::optional<std::string> RecipeStore::Find(const StoreDirectory& directory, const Key& key) {
  absl::StatusOr<std::string> bytes = directory.Read(EntryName(key.name), /*touch=*/!settings_.read_only);
  if (!bytes.ok()) {
    if (absl::IsNotFound(bytes.status())) return std::nullopt;
    if (absl::IsInvalidArgument(bytes.status())) {
      Refuse(directory, key, bytes.status().message());
      return std::nullopt;
    }
    counters_.refused.fetch_add(1, std::memory_order_relaxed);
    WarnOnce(absl::StrCat("read ", key.name), absl::StrCat(bytes.status().message(), "; the recipe is recompiled"));
    return std::nullopt;
  }
  absl::StatusOr<std::string> payload = PayloadOf(*std::move(bytes), key);
  if (payload.ok()) return *std::move(payload);
  Refuse(directory, key, payload.status().message());
  return std::nullopt;
}

absl::StatusOr<std::string> RecipeStore::PayloadOf(std::string bytes, const Key& key) {
  HPU_ASSIGN_OR_RETURN(const Entry entry, ParseEntry(bytes));
  if (entry.ingredients != key.ingredients) return KeyMismatch(key.name, entry);
  // Moves the payload to the front of the buffer, because recipes are large.
  const size_t start = entry.payload.data() - bytes.data(), size = entry.payload.size();
  bytes.resize(start + size);
  bytes.erase(0, start);
  return bytes;
}

std::optional<std::string> RecipeStore::ReadNotes(const Key& key) {
  const absl::StatusOr<StoreDirectory> directory = StoreDirectory::Open(settings_.path, /*make=*/false);
  if (!directory.ok()) return std::nullopt;
  absl::StatusOr<std::string> bytes = directory->Read(NotesName(key.name), /*touch=*/!settings_.read_only);
  if (!bytes.ok()) return std::nullopt;
  absl::StatusOr<std::string> notes = PayloadOf(*std::move(bytes), key);
  return notes.ok() ? std::optional(*std::move(notes)) : std::nullopt;
}

void RecipeStore::WriteNotes(const Key& key, absl::string_view name, absl::string_view notes) {
  if (settings_.read_only) return;
  recipe::v1::Metadata metadata;
  metadata.set_cluster(std::string(name));
  const absl::StatusOr<StoreDirectory> directory = StoreDirectory::Open(settings_.path, /*make=*/true);
  const absl::Status status =
      directory.ok() ? directory->Write(NotesName(key.name), SerializeEntry(key, metadata, notes)) : directory.status();
  if (!status.ok()) WarnNotKept(status);
}

void RecipeStore::Refuse(const StoreDirectory& directory, const Key& key, absl::string_view reason) {
  counters_.refused.fetch_add(1, std::memory_order_relaxed);
  const bool moved = !settings_.read_only && directory.Rename(EntryName(key.name), DamagedName(key.name)).ok();
  WarnOnce(absl::StrCat("damaged ", key.name),
           absl::StrCat(directory.path(), "/", EntryName(key.name), " is ignored: ", reason,
                        moved ? absl::StrCat("; the file was set aside as ", DamagedName(key.name)) : "",
                        "; the recipe is recompiled"));
}

void RecipeStore::SetAside(const Key& key, absl::string_view reason) {
  counters_.hits.fetch_sub(1, std::memory_order_relaxed);  // FindOrClaim counted the entry
  const absl::StatusOr<StoreDirectory> directory = StoreDirectory::Open(settings_.path, /*make=*/false);
  if (directory.ok()) Refuse(*directory, key, reason);
}

std::optional<Claim> RecipeStore::TryClaim(const StoreDirectory& directory, const Key& key, LockHolder* holder) {
  if (settings_.read_only) return Claim();
  const std::string name = LockName(key.name);
  while (true) {
    absl::StatusOr<FileDescriptor> file = directory.OpenLockFile(name);
    if (absl::IsNotFound(file.status())) return std::nullopt;  // the directory was removed after Open()
    if (!file.ok()) {
      WarnNotKept(file.status());
      return Claim();
    }
    switch (files::TryLock(*file)) {
      case LockAttempt::kHeld:
        *holder = files::ReadHolder(*file);
        return std::nullopt;
      case LockAttempt::kFailed:
        WarnOnce("locks",
                 absl::StrCat("the file system of ", directory.path(), " has no working locks (", std::strerror(errno),
                              "), so several processes may compile the same recipe; set "
                              "TF_RECIPE_CACHE_PATH to a directory on another file system"));
        return Claim();
      case LockAttempt::kLocked:
        break;
    }
    // The previous holder may have removed the file between open and lock.
    if (!directory.IsSame(name, *file)) continue;
    absl::StatusOr<StoreDirectory> own = StoreDirectory::Open(settings_.path, /*make=*/false);
    if (!own.ok()) return Claim();
    return Claim(*std::move(own), name, files::FileLock(*std::move(file)));
  }
}

bool RecipeStore::Put(const Key& key, const recipe::v1::Metadata& metadata, absl::string_view payload, Claim claim) {
  if (settings_.read_only) return false;
  return PutEntry(key, metadata.cluster(), SerializeEntry(key, metadata, payload), std::move(claim));
}

bool RecipeStore::PutEntry(const Key& key, absl::string_view name, absl::string_view bytes, Claim claim) {
  if (settings_.read_only) return false;
  if (settings_.max_bytes > 0 && static_cast<int64_t>(bytes.size()) > settings_.max_bytes) {
    WarnOnce(
        "bound",
        absl::StrCat(name, ": the recipe has ", bytes.size(), " bytes, more than the limit of ", settings_.max_bytes,
                     " bytes for the whole cache; the recipe is not cached (raise HPU_RECIPE_CACHE_MAX_MB)"));
    return false;
  }
  if (bytes.size() > kMaxEntryBytes) {
    WarnOnce("entry", absl::StrCat(name, ": the recipe has ", bytes.size(), " bytes, more than the maximum of ",
                                   kMaxEntryBytes, "; the recipe is not cached (lower HPU_MAX_CLUSTER_SIZE)"));
    return false;
  }
  absl::Status status = Write(key, bytes);
  if (absl::IsNotFound(status)) status = Write(key, bytes);  // the directory was removed during the write
  if (!status.ok()) {
    WarnNotKept(status);
    return false;
  }
  counters_.stored.fetch_add(1, std::memory_order_relaxed);
  return true;
}

std::string RecipeStore::PathOf(const Key& key) const {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(settings_.path, error);
  return absl::StrCat(error ? settings_.path : path.string(), "/", EntryName(key.name));
}

absl::Status RecipeStore::Write(const Key& key, absl::string_view bytes) {
  HPU_ASSIGN_OR_RETURN(const StoreDirectory directory, StoreDirectory::Open(settings_.path, /*make=*/true));
  HPU_RETURN_IF_ERROR(directory.Write(EntryName(key.name), bytes));
  if (settings_.max_bytes == 0) return absl::OkStatus();
  if (const absl::StatusOr<Eviction> eviction = Evict(directory, {settings_.max_bytes}); eviction.ok()) {
    counters_.evicted.fetch_add(eviction->entries);
  } else {
    WarnOnce(
        "evict",
        absl::StrCat("old recipes cannot be evicted: ", eviction.status().message(),
                     "; the cache may grow beyond HPU_RECIPE_CACHE_MAX_MB: make the directory writable, or remove old "
                     "recipes"));
  }
  return absl::OkStatus();
}

void RecipeStore::WarnNotKept(const absl::Status& status) {
  WarnOnce("not kept", absl::StrCat(status.message(),
                                    "; recipes are compiled but not cached: repair the directory or set "
                                    "TF_RECIPE_CACHE_PATH to another directory"));
}

void RecipeStore::WarnOnce(const std::string& kind, const std::string& message) {
  {
    absl::MutexLock lock(&mutex_);
    if (!warned_.insert(kind).second) return;
  }
  warn_(message);
}

void RecipeStore::CleanOnce(const StoreDirectory& directory) {
  struct stat info;
  if (settings_.read_only || fstat(directory.fd(), &info) != 0) return;
  {
    absl::MutexLock lock(&mutex_);
    const std::pair<uint64_t, uint64_t> identity{info.st_dev, info.st_ino};
    if (std::exchange(cleaned_, identity) == identity) return;
  }
  RemoveLeftovers(directory);
}

}  // namespace hpu::recipes
