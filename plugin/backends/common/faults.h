// Faults: errors and delays that a test asks for.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_FAULTS_H_
#define HPU_PLUGIN_BACKENDS_COMMON_FAULTS_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/backends/common/liveness.h"
#include "plugin/hal/backend.h"
#include "plugin/hal/stream.h"

namespace hpu::common {

// What HPU_EMULATOR_FAULTS says: a list of rules `kind@n` (the n-th event of that kind on the device, from 1),
// `kind@n+` (that one and all later ones) and `kind%p` (each with probability p). Rules of the kinds that delay end
// with `:ms`. The word `seed=n` sets what the probabilities draw from, and a device server gives each session its
// number by `session=n`: a rule that ends with `#n` is for that session only.
//
// What a probability hits depends on the seed, the session and the event's number on its stream, and on nothing else:
// neither on time nor on other streams.
class Faults {
 public:
  enum Kind {
    // While the work runs.
    kLaunch,
    kCopy,
    kFill,
    kOutOfMemory,  // a launch
    kSlowCopy,
    kLost,  // counts commands of all streams: that one loses the device
    // At the call.
    kCompile,
    kSlowCompile,
    kAllocate,
    // At a device server only.
    kBusy,           // an acquisition finds no free module
    kDrop,           // the message with a command of a stream is lost, and the call with it
    kDelay,          // a command of a stream comes late
    kSilence,        // a sign of life stays without an answer
    kCompilerCrash,  // a compilation ends the process that compiles
    kCompilerHang,   // a compilation does not end
    kKinds
  };

  // InvalidArgument names the entry that cannot be read, and the kinds.
  static absl::StatusOr<Faults> Parse(const std::vector<std::string>& entries);
  // Those that the options or else the setting ask for.
  static absl::StatusOr<Faults> Of(const hal::AcquireOptions& options);

  Faults() = default;
  Faults(Faults&& other) noexcept  // only before first use
      : rules_(std::move(other.rules_)), seed_(other.seed_), session_(other.session_) {}

  // Counts a command that is about to run on a stream of that kind: by `kind`, by the kinds that go with it, and by
  // kLost, which ends the device's life.
  absl::Status CountCommand(Kind kind, hal::StreamKind stream, Liveness& liveness) {
    if (absl::Status status = liveness.Check(); !status.ok()) return status;
    if (rules_.empty()) return absl::OkStatus();
    return CountCommandSlow(kind, stream, liveness);
  }
  // Counts one event, and waits if it is to be late. An error if it is to fail: Aborted for kLost, ResourceExhausted
  // for kOutOfMemory, Unavailable at a device server, else Internal. Thread safe; next to nothing where no fault was
  // asked for.
  absl::Status Count(Kind kind, hal::StreamKind stream = hal::StreamKind::kCompute) {
    if (rules_.empty()) return absl::OkStatus();
    return CountSlow(kind, stream);
  }

 private:
  struct Rule {
    Kind kind = kKinds;
    uint64_t first = 0;  // 0: by probability
    bool onwards = false;
    double probability = 0;
    std::chrono::milliseconds delay{0};
    uint64_t session = 0;  // 0: all
  };
  static constexpr int kStreamKinds = 3;

  // False if it cannot be read.
  static bool ParseRule(const std::string& entry, Rule* rule);
  bool Hits(size_t rule, uint64_t number, hal::StreamKind stream, uint64_t number_on_stream) const;
  absl::Status CountSlow(Kind kind, hal::StreamKind stream);
  absl::Status CountCommandSlow(Kind kind, hal::StreamKind stream, Liveness& liveness);

  std::vector<Rule> rules_;
  uint64_t seed_ = 0;
  uint64_t session_ = 0;
  std::array<std::atomic<uint64_t>, kKinds> counts_{};
  std::array<std::array<std::atomic<uint64_t>, kStreamKinds>, kKinds> stream_counts_{};
};

}  // namespace hpu::common

#endif  // HPU_PLUGIN_BACKENDS_COMMON_FAULTS_H_
