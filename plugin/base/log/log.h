// The plugin's own log: one file per module and process, like the logs of the card's libraries, or standard error with
// ENABLE_CONSOLE (docs/user/logging.md).
#ifndef HPU_PLUGIN_BASE_LOG_LOG_H_
#define HPU_PLUGIN_BASE_LOG_LOG_H_

#include <atomic>
#include <sstream>

// HPU_LOG(kPasses, kInfo) << "…" writes a line if LOG_LEVEL_<module> or LOG_LEVEL_ALL enables its level. Otherwise the
// statement costs an atomic load, and the streamed expressions are not evaluated.
#define HPU_LOG(module, level)                                                   \
  if (!::hpu::log::IsOn(::hpu::log::Module::module, ::hpu::log::Level::level)) { \
  } else /* NOLINT */                                                            \
    ::hpu::log::Message(::hpu::log::Module::module, ::hpu::log::Level::level).stream()

namespace hpu::log {

enum class Module { kPasses, kCompiler, kDevice, kKernels, kBackend };
inline constexpr int kModules = 5;

// Values of LOG_LEVEL_<module>.
enum class Level { kTrace, kDebug, kInfo, kWarning, kError, kCritical, kOff };

// Reads all log levels again. The first message reads and caches the levels. Called for each graph and each
// compilation, so that programs can change levels.
void ReadSettings();

namespace internal {
inline constexpr int kUnread = -1;
extern std::atomic<int> levels[kModules];
bool ReadLevelAndCheck(Module module, Level level);
}  // namespace internal

inline bool IsOn(Module module, Level level) {
  const int threshold = internal::levels[static_cast<int>(module)].load(std::memory_order_relaxed);
  if (static_cast<int>(level) < threshold) return false;
  return threshold != internal::kUnread || internal::ReadLevelAndCheck(module, level);
}

// One line of the log, written by the destructor. Any thread may write. A forked child writes to separate files.
class Message {
 public:
  Message(Module module, Level level) : module_(module), level_(level) {}
  ~Message();
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  std::ostream& stream() { return text_; }

 private:
  const Module module_;
  const Level level_;
  std::ostringstream text_;
};

}  // namespace hpu::log

#endif  // HPU_PLUGIN_BASE_LOG_LOG_H_
