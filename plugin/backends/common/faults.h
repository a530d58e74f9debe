// Faults: errors that a test asks for.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_FAULTS_H_
#define HPU_PLUGIN_BACKENDS_COMMON_FAULTS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/backends/common/liveness.h"
#include "plugin/hal/backend.h"

namespace hpu::common {

// What HPU_EMULATOR_FAULTS says: a list of `kind@n` (the n-th command of that kind on the device fails, from 1) and
// `kind@n+` (that one and all later ones). Kinds are the enumerators below. launch, copy and fill fail while the work
// runs, compile and allocate at the call; lost counts commands of all streams, and that command loses the device.
class Faults {
 public:
  enum Kind { kLaunch, kCopy, kFill, kCompile, kAllocate, kLost, kKinds };

  // InvalidArgument names the entry that cannot be read, and the kinds.
  static absl::StatusOr<Faults> Parse(const std::vector<std::string>& entries);
  // Those that the options or else the setting ask for.
  static absl::StatusOr<Faults> Of(const hal::AcquireOptions& options);

  Faults() = default;
  Faults(Faults&& other) noexcept : rules_(std::move(other.rules_)) {}  // only before first use

  // Counts a command that is about to run on a stream, of this kind and for kLost, which ends the device's life.
  absl::Status CountCommand(Kind kind, Liveness& liveness) {
    if (absl::Status status = liveness.Check(); !status.ok()) return status;
    if (rules_.empty()) return absl::OkStatus();
    return CountCommandSlow(kind, liveness);
  }
  // Counts one command; Internal (Aborted for kLost) if it is to fail. Thread safe; next to nothing where no fault was
  // asked for.
  absl::Status Count(Kind kind) {
    if (rules_.empty()) return absl::OkStatus();
    return CountSlow(kind);
  }

 private:
  struct Rule {
    Kind kind;
    uint64_t first;
    bool onwards;
  };

  absl::Status CountSlow(Kind kind);
  absl::Status CountCommandSlow(Kind kind, Liveness& liveness);

  std::vector<Rule> rules_;
  std::array<std::atomic<uint64_t>, kKinds> counts_{};
};

}  // namespace hpu::common

#endif  // HPU_PLUGIN_BACKENDS_COMMON_FAULTS_H_
