// Mailbox: folder through which the ranks of a communicator exchange messages, as processes of one machine.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_HCL_MAILBOX_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_HCL_MAILBOX_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace hpu::synapse_double {

// Each rank has a file rank-<n> with an fcntl lock. The operating system releases the lock when the process ends, and
// forked children do not inherit the lock. A message is a file that appears as a whole. Thread safe.
class Mailbox {
 public:
  enum class Outcome {
    kArrived,
    kRankLeft,   // the awaited rank has left the communicator, or its process has ended
    kCancelled,  // by Cancel
    kTimeout,    // HCCL_TIMEOUT_MS (a switch) has passed
  };

  // Makes a folder in the folder of the switch LOCKS, or in /tmp. Returns an empty path on failure.
  static std::string NewFolder();

  // Joins as a rank. Returns null and sets `problem` if the folder does not exist, or if the rank has joined before.
  static std::unique_ptr<Mailbox> Join(const std::string& folder, int rank, int size, std::string* problem);
  // Leaves the communicator. The last rank removes the folder.
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // Waits until another rank has joined, and reads the number of ranks that it expects.
  Outcome AwaitRank(int rank, int* size);

  // Makes a message visible to the other ranks. Aborts if the message cannot be written.
  void Post(const std::string& name, const std::string& contents);
  // Waits for a message of a rank.
  Outcome Await(const std::string& name, int rank, std::string* contents);
  void Remove(const std::string& name);

  // Ends all waits.
  void Cancel() { is_cancelled_ = true; }

 private:
  Mailbox(std::string folder, int rank, int file) : folder_(std::move(folder)), rank_(rank), file_(file) {}

  std::string PathOf(const std::string& name) const { return folder_ + "/" + name; }
  bool HasLeft(int rank) const;
  // Waits until `ready` returns true, `has_left` returns true, Cancel is called, or the time is over.
  Outcome AwaitUntil(const std::function<bool()>& ready, const std::function<bool()>& has_left) const;

  const std::string folder_;
  const int rank_;
  const int file_;  // the rank's locked file
  std::atomic<bool> is_cancelled_{false};
  std::atomic<uint64_t> posted_{0};
};

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_HCL_MAILBOX_H_
