#include "plugin/testing/synapse_double/hcl/mailbox.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "plugin/testing/synapse_double/runtime/status.h"
#include "plugin/testing/synapse_double/runtime/switches.h"

namespace hpu::synapse_double {
namespace {

constexpr std::chrono::microseconds kFirstPause{50};
constexpr std::chrono::microseconds kMaxPause{2000};

std::string RankFile(int rank) { return Text("rank-", rank); }

bool ReadFile(const std::string& path, std::string* contents) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  contents->assign(std::istreambuf_iterator<char>(file), {});
  return true;
}

[[noreturn]] void Die(const std::string& path) {
  std::fprintf(stderr, "synapse_double: cannot write %s: %s\n", path.c_str(), std::strerror(errno));
  std::abort();
}

// Writes the whole file, which must be new.
int WriteFile(const std::string& path, const std::string& contents) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) Die(path);
  for (size_t done = 0; done < contents.size();) {
    const ssize_t written = write(file, contents.data() + done, contents.size() - done);
    if (written <= 0) Die(path);
    done += written;
  }
  return file;
}

}  // namespace

std::string Mailbox::NewFolder() {
  const std::string& parent = GetSwitches().lock_folder;
  std::string path = Text(parent.empty() ? "/tmp" : parent, "/synapse_double_hccl.XXXXXX");
  return mkdtemp(path.data()) == nullptr ? "" : path;
}

std::unique_ptr<Mailbox> Mailbox::Join(const std::string& folder, int rank, int size, std::string* problem) {
  struct stat info;
  if (stat(folder.c_str(), &info) != 0) {
    *problem = Text("the id names ", folder, ", which does not exist: all ranks have left, or the id is invalid");
    return nullptr;
  }
  // The file gets its name only once it is locked and complete, so other ranks never see it unlocked.
  const std::string draft = Text(folder, "/draft-", getpid(), "-", rank);
  const int file = WriteFile(draft, std::to_string(size));
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  fcntl(file, F_SETLK, &lock);
  const bool is_first = link(draft.c_str(), Text(folder, "/", RankFile(rank)).c_str()) == 0;
  unlink(draft.c_str());
  if (is_first) return std::unique_ptr<Mailbox>(new Mailbox(folder, rank, file));
  close(file);
  *problem = Text("rank ", rank, " has joined before");
  return nullptr;
}

Mailbox::~Mailbox() {
  close(file_);  // unlocks
  // The files of ranks stay until the last one leaves, so that the others can tell "left" from "not joined".
  const int left = open(PathOf(Text("left-", rank_)).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (left >= 0) close(left);
  int size = 0;
  std::string text;
  if (ReadFile(PathOf(RankFile(rank_)), &text)) size = std::atoi(text.c_str());
  for (int rank = 0; rank < size; ++rank) {
    if (access(PathOf(Text("left-", rank)).c_str(), F_OK) != 0) return;
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

bool Mailbox::HasLeft(int rank) const {
  const int file = open(PathOf(RankFile(rank)).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno == ENOENT && access(folder_.c_str(), F_OK) != 0;
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  const bool has_left = fcntl(file, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
  close(file);
  return has_left;
}

Mailbox::Outcome Mailbox::AwaitUntil(const std::function<bool()>& ready, const std::function<bool()>& has_left) const {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(GetSwitches().hccl_timeout_ms);
  for (auto pause = kFirstPause;; pause = std::min(2 * pause, kMaxPause)) {
    if (is_cancelled_) return Outcome::kCancelled;
    if (ready()) return Outcome::kArrived;
    if (pause == kMaxPause && has_left()) return ready() ? Outcome::kArrived : Outcome::kRankLeft;
    if (std::chrono::steady_clock::now() > end) return Outcome::kTimeout;
    std::this_thread::sleep_for(pause);
  }
}

// A rank must not open its own file again: closing the file would release the lock.
Mailbox::Outcome Mailbox::AwaitRank(int rank, int* size) {
  std::string text;
  const Outcome outcome = AwaitUntil([&] { return ReadFile(PathOf(RankFile(rank)), &text); }, [] { return false; });
  *size = std::atoi(text.c_str());
  return outcome;
}

void Mailbox::Post(const std::string& name, const std::string& contents) {
  const std::string draft = PathOf(Text("post-", rank_, "-", posted_.fetch_add(1)));
  close(WriteFile(draft, contents));
  if (rename(draft.c_str(), PathOf(name).c_str()) != 0) Die(name);
}

Mailbox::Outcome Mailbox::Await(const std::string& name, int rank, std::string* contents) {
  return AwaitUntil([&] { return ReadFile(PathOf(name), contents); }, [&] { return HasLeft(rank); });
}

void Mailbox::Remove(const std::string& name) { unlink(PathOf(name).c_str()); }

}  // namespace hpu::synapse_double
