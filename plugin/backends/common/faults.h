// Faults: fault injection for tests, as errors and delays of device operations (HPU_FAULTS).
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

// The rules in HPU_FAULTS. `kind@n` hits the n-th event of that kind on the device, counted from 1. `kind@n+` hits the
// n-th and all later events. `kind%p` hits each event with probability p. A rule whose kind is a delay ends with `:ms`.
// `seed=n` seeds the random draws. A device server adds `session=n`, the number of the session; a rule that ends with
// `#n` applies to session n only.
//
// A random hit depends only on the seed, the session, the rule's position, the kind of stream and the event's number on
// such streams. Time and streams of other kinds have no influence.
class Faults {
 public:
  enum Kind {
    // Counted for each command that runs, or that PJRT queues.
    kLaunch,
    kCopy,
    kFill,
    kOutOfMemory,  // a launch that runs out of device memory
    kSlowCopy,
    kLost,  // counts all commands of all streams; a hit marks the device as lost
    // Counted when the function is called.
    kCompile,
    kSlowCompile,
    kAllocate,
    // Counted in a device server only.
    kBusy,           // an acquisition finds no free module
    kDrop,           // a stream's command is lost, and its Run call fails
    kDelay,          // a stream's command arrives late
    kSilence,        // a keepalive is not answered
    kCompilerCrash,  // a compilation crashes the compile worker
    kCompilerHang,   // a compilation hangs
    kKinds
  };

  // Fails with InvalidArgument, which contains the malformed entry and lists the kinds.
  static absl::StatusOr<Faults> Parse(const std::vector<std::string>& entries);
  // The faults in the options; if the options have none, the faults in HPU_FAULTS.
  static absl::StatusOr<Faults> Of(const hal::AcquireOptions& options);

  Faults() = default;
  Faults(Faults&& other) noexcept  // counts are not moved, so move only before the first count
      : rules_(std::move(other.rules_)), seed_(other.seed_), session_(other.session_) {}

  // Whether no rule applies.
  bool empty() const { return rules_.empty(); }
  // Counts a command that is about to run on a stream of kind `stream`. First counts kLost; a hit marks the device as
  // lost. Then counts `kind` as Count does. Fails without counting if the device is already lost.
  absl::Status CountCommand(Kind kind, hal::StreamKind stream, Liveness& liveness) {
    if (absl::Status status = liveness.Check(); !status.ok()) return status;
    if (rules_.empty()) return absl::OkStatus();
    return CountCommandSlow(kind, stream, liveness);
  }
  // Counts one event, and sleeps if a rule delays it. If no rule makes it fail, also counts the related kind, such as
  // kOutOfMemory for kLaunch. The error of a failed event is Aborted for kLost, ResourceExhausted for kOutOfMemory,
  // Unavailable for kBusy, kDrop and kSilence, else Internal. Thread safe; nearly free without rules.
  absl::Status Count(Kind kind, hal::StreamKind stream = hal::StreamKind::kCompute) {
    if (rules_.empty()) return absl::OkStatus();
    return CountSlow(kind, stream);
  }

 private:
  struct Rule {
    Kind kind = kKinds;
    uint64_t first = 0;  // 0: `probability` applies
    bool onwards = false;
    double probability = 0;
    std::chrono::milliseconds delay{0};
    uint64_t session = 0;  // 0: all sessions
  };
  static constexpr int kStreamKinds = 3;

  // Returns false if `entry` is malformed.
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
