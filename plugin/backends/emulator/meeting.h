// Meeting: where the emulated devices of one communicator come together.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_MEETING_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_MEETING_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/backends/common/checked_communicator.h"

namespace hpu::emulator {

// What a rank gives to an operation; pointers are into its device's memory.
struct Part {
  using Kind = common::Collective::Kind;

  Kind kind = Kind::kAllReduce;
  const char* source = nullptr;
  char* destination = nullptr;
  hal::Elements elements = 0;  // as hal::Communicator has them
  hal::DataType dtype = hal::DataType::kInvalid;
  hal::ReduceOp op = hal::ReduceOp::kSum;
  int root = 0;
};

// What a rank sends or receives.
struct Transfer {
  bool sends = false;
  int peer = 0;
  char* data = nullptr;
  hal::Elements elements = 0;
  hal::DataType dtype = hal::DataType::kInvalid;
};

// The devices are of one process: a thread of each rank takes a share of every operation and works on the memory of
// all. A rank's memory is its own again when Run or Exchange returns, aborted or not: they wait for those who read or
// write it. Thread safe.
class Meeting {
 public:
  // The one of that name, which the first to ask makes. InvalidArgument if others gave it another size.
  static absl::StatusOr<std::shared_ptr<Meeting>> Find(const std::string& id, int size);

  explicit Meeting(int size) : parts_(size), came_(size) {}

  // Waits until every rank has come; DeadlineExceeded says which have not, InvalidArgument that two are the same.
  // Cancelled if this one is abandoned, and for the others then.
  absl::Status Join(const hal::CommunicatorOptions& options);
  // Brings one rank's part, waits for those of the others and does this rank's share; returns when all have. What they
  // disagree about is an InvalidArgument for all.
  absl::Status Run(int rank, const Part& part);
  // Does one rank's transfers, which start together; the receivers copy. Returns when all have ended. Two that do not
  // fit each other are an InvalidArgument for both ranks.
  absl::Status Exchange(int rank, const std::vector<Transfer>& transfers);
  // Makes what waits, and all that comes later, end with Cancelled and this reason. The first one counts.
  void Abort(const std::string& reason);

 private:
  // What one rank sends to another one: on its way while `sent` is not null, done with once `answered`.
  struct Channel {
    const Transfer* sent = nullptr;
    bool copying = false;  // the receiver reads the sender's memory
    bool answered = false;
    absl::Status answer;
  };
  // Waits until `reached`; Cancelled if it never will be.
  template <typename Reached>
  absl::Status WaitLocked(std::unique_lock<std::mutex>& lock, const Reached& reached) {
    changed_.wait(lock, [&] { return reached() || !aborted_.empty(); });
    return reached() ? absl::OkStatus() : absl::CancelledError(aborted_);
  }
  absl::Status ReceiveLocked(std::unique_lock<std::mutex>& lock, int rank, const Transfer& transfer);
  absl::Status MeetLocked(std::unique_lock<std::mutex>& lock);
  // Between two meetings: checks the parts and does this rank's share.
  absl::Status WorkLocked(std::unique_lock<std::mutex>& lock, int rank);
  std::string MissingLocked() const;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Part> parts_;  // each rank's own, read by the others between two meetings
  std::vector<bool> came_;   // guarded by mutex_, as all below
  int joined_ = 0;
  int arrived_ = 0;
  int working_ = 0;  // ranks between two meetings, which read and write the memory of all
  uint64_t meetings_ = 0;
  std::map<std::pair<int, int>, Channel> channels_;  // by sender and receiver
  std::string aborted_;                              // the reason
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_MEETING_H_
