#include "plugin/recipes/remote_cache.h"

#include <unistd.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "plugin/base/status_macros.h"

namespace hpu::recipes {
namespace {

// Arguments of recipe_store/remote/transfer_process.py.
std::vector<std::string> CommandLine(const RemoteSettings& settings) {
  std::vector<std::string> command = settings.command;
  command.push_back(absl::StrCat("--parent=", getpid()));
  command.push_back(absl::StrCat("--url=", settings.url));
  command.push_back(absl::StrCat("--key-file=", settings.key_file));
  command.push_back(absl::StrCat("--token-file=", settings.token_file));
  command.push_back(absl::StrCat("--timeout=", absl::ToDoubleSeconds(settings.timeout)));
  return command;
}

// Returns `url` without the user and password, for messages.
std::string WithoutUser(absl::string_view url) {
  const size_t scheme_end = url.find("://");
  if (scheme_end == absl::string_view::npos) return std::string(url);
  const size_t begin = scheme_end + 3;
  const size_t at = url.substr(begin, url.find_first_of("/?#", begin) - begin).rfind('@');
  if (at == absl::string_view::npos) return std::string(url);
  return absl::StrCat(url.substr(0, begin), url.substr(begin + at + 1));
}

absl::Status LoadEntry(const Key& key, absl::string_view bytes, const RemoteCache::Load& load) {
  HPU_ASSIGN_OR_RETURN(const Entry entry, ParseEntry(bytes));
  if (entry.ingredients != key.ingredients) return KeyMismatch(key.name, entry);
  return load(entry.payload);
}

}  // namespace

bool RemoteSettings::operator==(const RemoteSettings& other) const {
  return command == other.command && url == other.url && key_file == other.key_file && token_file == other.token_file &&
         read_only == other.read_only && timeout == other.timeout;
}

RemoteCache::RemoteCache(RemoteSettings settings, RemoteCounters* counters,
                         std::function<void(const std::string&)> warn)
    : settings_(std::move(settings)),
      shown_url_(WithoutUser(settings_.url)),
      command_(CommandLine(settings_)),
      pid_(getpid()),
      counters_(*counters),
      warn_(std::move(warn)) {}

absl::StatusOr<TransferReply> RemoteCache::Channel::Call(const std::vector<std::string>& command,
                                                         absl::string_view verb, absl::string_view key,
                                                         absl::string_view operand, absl::Time deadline) {
  auto idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !busy_; };
  {
    absl::MutexLock lock(&mutex_);
    if (!mutex_.AwaitWithDeadline(absl::Condition(&idle), deadline)) {
      return absl::DeadlineExceededError(
          absl::StrCat("cannot ", verb, " entry ", key,
                       ": another transfer of this process did not end within the time limit; raise "
                       "HPU_RECIPE_CACHE_REMOTE_TIMEOUT_S"));
    }
    busy_ = true;
  }
  absl::StatusOr<TransferReply> reply = [&]() -> absl::StatusOr<TransferReply> {
    if (process_ == nullptr) {
      HPU_ASSIGN_OR_RETURN(process_, TransferProcess::Start(command));
    }
    return process_->Call(verb, key, operand, deadline);
  }();
  if (!reply.ok()) process_.reset();
  absl::MutexLock lock(&mutex_);
  busy_ = false;
  return reply;
}

bool RemoteCache::InUse() const {
  return !unusable_.load() && failures_.load() < kMaxRemoteFailures && getpid() == pid_;
}

std::optional<std::string> RemoteCache::Fetch(const Key& key, absl::string_view name, const Load& load) {
  if (!InUse()) return std::nullopt;
  absl::StatusOr<TransferReply> reply = downloads_.Call(command_, "get", key.name, "", absl::Now() + settings_.timeout);
  const std::string outcome = HandleFailures(reply);
  if (outcome == "missing") {
    counters_.misses.fetch_add(1, std::memory_order_relaxed);
  } else if (outcome == "refused") {
    Refuse(key, name, reply->bytes);
  } else if (outcome == "found") {
    const absl::Status status = LoadEntry(key, reply->bytes, load);
    if (status.ok()) {
      counters_.hits.fetch_add(1, std::memory_order_relaxed);
      return std::move(reply->bytes);
    }
    if (absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status)) Refuse(key, name, status.message());
  }
  return std::nullopt;
}

void RemoteCache::Refuse(const Key& key, absl::string_view name, absl::string_view reason) {
  counters_.refused.fetch_add(1, std::memory_order_relaxed);
  WarnOnce(absl::StrCat("refused ", key.name),
           absl::StrCat("entry ", key.name, " (", name, ") of ", shown_url_, " is ignored: ", reason,
                        "; the recipe is compiled locally"));
}

void RemoteCache::Upload(const Key& key, const std::string& path) {
  if (!accepts_uploads()) return;
  const absl::StatusOr<TransferReply> reply =
      uploads_.Call(command_, "put", key.name, path, absl::Now() + settings_.timeout);
  const std::string outcome = HandleFailures(reply);
  if (outcome == "stored") {
    counters_.uploaded.fetch_add(1, std::memory_order_relaxed);
  } else if (outcome == "skipped" && !reply->bytes.empty()) {
    WarnOnce("skipped", absl::StrCat(shown_url_, " did not store entry ", key.name, ": ", reply->bytes));
  } else if (outcome == "denied") {
    uploads_denied_ = true;
    WarnOnce(
        "denied",
        absl::StrCat(
            shown_url_, " refuses uploads: ", reply->bytes,
            "; this process only downloads recipes (set HPU_RECIPE_CACHE_REMOTE_READ_ONLY=1 if this is intended)"));
  }
}

std::string RemoteCache::HandleFailures(const absl::StatusOr<TransferReply>& reply) {
  if (reply.ok() && reply->outcome == "unusable") {
    unusable_ = true;
    WarnOnce("unusable", absl::StrCat("the remote cache ", shown_url_, " cannot be used: ", reply->bytes));
  } else if (!reply.ok() || reply->outcome == "failed") {
    failures_.fetch_add(1);
    counters_.failures.fetch_add(1, std::memory_order_relaxed);
    WarnOnce("failed", absl::StrCat("the remote cache ", shown_url_,
                                    " failed: ", reply.ok() ? reply->bytes : reply.status().message(), "; after ",
                                    kMaxRemoteFailures, " failures this process stops using the remote cache"));
  }
  return reply.ok() ? reply->outcome : "failed";
}

void RemoteCache::WarnOnce(const std::string& kind, const std::string& message) {
  {
    absl::MutexLock lock(&mutex_);
    if (!warned_.insert(kind).second) return;
  }
  warn_(message);
}

}  // namespace hpu::recipes
