#include "plugin/base/log/files.h"

#include <fcntl.h>
#include <pthread.h>
#include <pwd.h>
#include <unistd.h>

#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "plugin/base/files/make_directories.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/flags/parse.h"

namespace hpu::log {
namespace {

std::atomic<bool> stopped{false};

// Open files by path; -1 where opening failed. Never destroyed, because any thread may log until the process ends.
struct Files {
  std::mutex mutex;
  std::map<std::string, int> open;
  bool warned = false;
};

Files& GetFiles() {
  static auto* files = [] {
    // A child that is forked while another thread writes must not inherit a held lock.
    pthread_atfork([] { GetFiles().mutex.lock(); }, [] { GetFiles().mutex.unlock(); },
                   [] { GetFiles().mutex.unlock(); });
    return new Files;
  }();
  return *files;
}

std::string Directory() {
  std::string directory = flags::HabanaLogs();
  if (!directory.empty()) return directory;
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') {
    const passwd* user = getpwuid(getuid());
    home = user != nullptr ? user->pw_dir : "/tmp";
  }
  return std::string(home) + "/.habana_logs";
}

int Open(const std::string& directory, const std::string& path, bool* warned) {
  static_cast<void>(files::MakeDirectories(directory, 0777));  // open() reports failures
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0 && !*warned && !flags::WarningsAreOff()) {
    *warned = true;
    std::fprintf(stderr,
                 "HPU: WARNING: cannot write %s (%s); no log files are written. Set HABANA_LOGS to another directory\n",
                 path.c_str(), std::strerror(errno));
  }
  return file;
}

}  // namespace

void AppendToFile(const std::string& module, const std::string& line) {
  if (stopped) return;
  const std::string directory = Directory();
  std::string path = directory + "/";
  for (const char c : module) path += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  path += "_" + std::to_string(getpid()) + ".log";
  Files& files = GetFiles();
  std::lock_guard<std::mutex> lock(files.mutex);
  auto found = files.open.find(path);
  if (found == files.open.end()) found = files.open.emplace(path, Open(directory, path, &files.warned)).first;
  if (found->second < 0) return;
  // One call per line, so that lines of several processes do not mix. On a full disk the line is lost.
  if (write(found->second, line.data(), line.size()) < 0) return;
}

void StopAppending() { stopped = true; }

}  // namespace hpu::log
