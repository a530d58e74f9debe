#include "plugin/backends/gaudi/device/driver_holders.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/backends/gaudi/device/device_files.h"

namespace hpu::gaudi {
namespace {

// The entries of a folder; none if the folder does not exist or this user may not read it.
std::vector<std::filesystem::path> EntriesOf(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> entries;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    entries.push_back(entry->path());
  }
  return entries;
}

std::set<std::string> OpenDeviceFiles(const std::filesystem::path& process) {
  std::set<std::string> files;
  for (const std::filesystem::path& entry : EntriesOf(process / "fd")) {
    std::error_code ignored;
    const std::string target = std::filesystem::read_symlink(entry, ignored).string();
    if (IsDeviceFile(target)) files.insert(target);
  }
  return files;
}

std::string CommandLine(const std::filesystem::path& process) {
  constexpr size_t kMaxBytes = 200;
  std::ifstream file(process / "cmdline");
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::replace(text.begin(), text.end(), '\0', ' ');
  if (text.size() > kMaxBytes) text.resize(kMaxBytes);
  return std::string(absl::StripAsciiWhitespace(text));
}

}  // namespace

std::vector<std::string> DriverHolders(const std::string& proc) {
  std::map<int, std::string> holders;
  for (const std::filesystem::path& process : EntriesOf(proc)) {
    int pid = 0;
    if (!absl::SimpleAtoi(process.filename().string(), &pid) || pid == getpid()) continue;
    const std::set<std::string> files = OpenDeviceFiles(process);
    if (files.empty()) continue;
    holders[pid] = absl::StrCat("pid ", pid, " (", CommandLine(process), ") has ", absl::StrJoin(files, ", "));
  }
  std::vector<std::string> texts;
  for (auto& [pid, text] : holders) texts.push_back(std::move(text));
  return texts;
}

}  // namespace hpu::gaudi
