#include "plugin/base/log/log.h"

#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <string>

#include "plugin/base/flags/flags.h"
#include "plugin/base/flags/parse.h"
#include "plugin/base/log/files.h"

namespace hpu::log {
namespace {

constexpr const char* kNames[kModules] = {"PASSES", "COMPILER", "DEVICE", "KERNELS", "BACKEND"};
constexpr char kLetters[] = "TDIWEC";

// "2026-01-31 12:00:00.123456 4711/4712 W DEVICE: "
std::string Prefix(Module module, Level level) {
  timeval now{};
  gettimeofday(&now, nullptr);
  tm local{};
  localtime_r(&now.tv_sec, &local);
  char date[32];
  std::strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &local);
  char prefix[96];
  std::snprintf(prefix, sizeof(prefix), "%s.%06ld %d/%ld %c %s: ", date, static_cast<long>(now.tv_usec), getpid(),
                syscall(SYS_gettid), kLetters[static_cast<int>(level)], kNames[static_cast<int>(module)]);
  return prefix;
}

}  // namespace

namespace internal {

std::atomic<int> levels[kModules] = {kUnread, kUnread, kUnread, kUnread, kUnread};

bool ReadLevelAndCheck(Module module, Level level) {
  ReadSettings();
  return static_cast<int>(level) >= levels[static_cast<int>(module)].load(std::memory_order_relaxed);
}

}  // namespace internal

void ReadSettings() {
  constexpr int64_t kOff = static_cast<int64_t>(Level::kOff);
  const int64_t all = flags::LogLevelAll();
  for (int m = 0; m < kModules; ++m) {
    int64_t level = flags::ParseInt((std::string("LOG_LEVEL_") + kNames[m]).c_str(), -1);
    if (level < 0) level = all < 0 ? 0 : all;
    internal::levels[m].store(static_cast<int>(level > kOff ? kOff : level), std::memory_order_relaxed);
  }
}

Message::~Message() {
  const std::string line = Prefix(module_, level_) + text_.str() + "\n";
  if (flags::EnableConsole()) {
    std::fputs(line.c_str(), stderr);
  } else {
    AppendToFile(kNames[static_cast<int>(module_)], line);
  }
}

}  // namespace hpu::log
