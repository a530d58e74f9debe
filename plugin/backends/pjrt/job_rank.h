// JobRank: this process's place among the processes of a job whose cards run collectives together.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_JOB_RANK_H_
#define HPU_PLUGIN_BACKENDS_PJRT_JOB_RANK_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hpu::pjrt {

// From HPU_PJRT_RENDEZVOUS, which `hpu run` sets.
struct JobRank {
  int rank = 0;
  int size = 1;           // number of processes on this machine
  std::string directory;  // shared by the processes
};

// Parses RANK/SIZE:DIRECTORY, for example "0/2:/tmp/job". Fails with FailedPrecondition if `text` is empty, and with
// InvalidArgument for another form or a directory that does not exist.
absl::StatusOr<JobRank> ParseJobRank(absl::string_view text);

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_JOB_RANK_H_
