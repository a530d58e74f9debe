// JobRendezvous: rendezvous of communicators whose ranks are processes of one job.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_JOB_RENDEZVOUS_H_
#define HPU_PLUGIN_BACKENDS_PJRT_JOB_RENDEZVOUS_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "plugin/backends/pjrt/client/key_value_store.h"
#include "plugin/hal/communicator.h"

namespace hpu::pjrt {

// Thread safe.
class JobRendezvous {
 public:
  // `id`: equal in all processes of the job. `store`: shared by them. `max_wait`: for a rank that does not join.
  JobRendezvous(uint64_t id, std::unique_ptr<KeyValueStore> store,
                std::chrono::milliseconds max_wait = std::chrono::minutes(1))
      : id_(id), store_(std::move(store)), max_wait_(max_wait) {}

  uint64_t id() const { return id_; }
  // A new communicator id. Ids of all processes of a job have the same text before ":".
  std::string NewCommunicatorId() const;
  // Implements CommunicatorOptions::rendezvous. Blocks until all ranks have joined. DeadlineExceeded names a missing
  // rank. Fails with Cancelled if options.abandoned returns true.
  absl::StatusOr<int> Meet(const hal::CommunicatorOptions& options, int segment) const;

 private:
  absl::StatusOr<std::string> Await(const hal::CommunicatorOptions& options, const std::string& key,
                                    const std::string& who) const;

  const uint64_t id_;
  const std::unique_ptr<KeyValueStore> store_;
  const std::chrono::milliseconds max_wait_;
};

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_JOB_RENDEZVOUS_H_
