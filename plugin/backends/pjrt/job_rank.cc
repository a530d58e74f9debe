#include "plugin/backends/pjrt/job_rank.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace hpu::pjrt {
namespace {

constexpr char kVariable[] = "HPU_PJRT_RENDEZVOUS";

}  // namespace

absl::StatusOr<JobRank> ParseJobRank(absl::string_view text) {
  if (text.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "HPU_PJRT_COLLECTIVES=device needs the job's other processes, but ", kVariable,
        " is not set: start the program with hpu run -np N, set the variable, or set HPU_PJRT_COLLECTIVES=host"));
  }
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits(':', 1));
  const std::pair<absl::string_view, absl::string_view> ranks = absl::StrSplit(parts.first, absl::MaxSplits('/', 1));
  JobRank job;
  job.directory = std::string(parts.second);
  if (!absl::SimpleAtoi(ranks.first, &job.rank) || !absl::SimpleAtoi(ranks.second, &job.size) || job.rank < 0 ||
      job.rank >= job.size || job.directory.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(kVariable, "=", text,
                                                   " is not RANK/SIZE:DIRECTORY, such as 0/2:/tmp/job; ranks count "
                                                   "from 0, and the directory is the same for all processes"));
  }
  std::error_code error;
  if (!std::filesystem::is_directory(job.directory, error)) {
    return absl::InvalidArgumentError(absl::StrCat(kVariable, "=", text, ": ", job.directory,
                                                   " is not a directory; create it before the processes start"));
  }
  return job;
}

}  // namespace hpu::pjrt
