#include "plugin/backends/pjrt/directory_store.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/random_id.h"

namespace hpu::pjrt {
namespace {

// Longer names are cut into folders, because file systems allow 255 bytes.
constexpr size_t kMaxName = 200;
constexpr std::chrono::milliseconds kFirstPoll{1};
constexpr std::chrono::milliseconds kMaxPoll{20};

}  // namespace

// Letters, digits, "_" and "-" stand for themselves, other bytes for "%" and two digits. A part that is followed by
// another part ends with "+", so a folder never has the name of a file.
std::string DirectoryStore::PathOf(absl::string_view key) const {
  std::string path = absl::StrCat(directory_, "/", prefix_);
  size_t part = 0;
  for (const char c : key) {
    if (part >= kMaxName) {
      absl::StrAppend(&path, "+/");
      part = 0;
    }
    const size_t before = path.size();
    if (absl::ascii_isalnum(c) || c == '_' || c == '-') {
      path.push_back(c);
    } else {
      absl::StrAppend(&path, "%", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    }
    part += path.size() - before;
  }
  return path;
}

absl::StatusOr<std::string> DirectoryStore::TryGet(absl::string_view key) {
  std::ifstream file(PathOf(key), std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat("no process has put the key ", key, " into ", directory_));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

absl::StatusOr<std::string> DirectoryStore::Get(absl::string_view key, std::chrono::milliseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  for (auto poll = kFirstPoll;; poll = std::min(2 * poll, kMaxPoll)) {
    absl::StatusOr<std::string> value = TryGet(key);
    if (value.ok()) return value;
    if (std::chrono::steady_clock::now() >= end) {
      return absl::DeadlineExceededError(
          absl::StrCat("no process of the job has put the key ", key, " into ", directory_, " within ", timeout.count(),
                       " ms: a process has not started or has ended; see the messages of the other ranks"));
    }
    std::this_thread::sleep_for(poll);
  }
}

absl::Status DirectoryStore::Put(absl::string_view key, absl::string_view value) {
  const std::string path = PathOf(key);
  const std::string draft = absl::StrCat(directory_, "/draft-", RandomId());
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  errno = 0;
  std::ofstream file(draft, std::ios::binary);
  file.write(value.data(), static_cast<std::streamsize>(value.size()));
  file.close();
  const bool is_written = file.good();
  if (!is_written) error.assign(errno == 0 ? EIO : errno, std::generic_category());
  if (is_written) std::filesystem::rename(draft, path, error);
  if (!error) return absl::OkStatus();
  std::error_code ignored;
  std::filesystem::remove(draft, ignored);
  return absl::UnavailableError(absl::StrCat("cannot put the key ", key, " into ", directory_, ": ", error.message(),
                                             "; the directory must exist until the job ends, with space for files"));
}

}  // namespace hpu::pjrt
