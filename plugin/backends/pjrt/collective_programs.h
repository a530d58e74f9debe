// Collective operations as device programs with one replica per rank.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_COLLECTIVE_PROGRAMS_H_
#define HPU_PLUGIN_BACKENDS_PJRT_COLLECTIVE_PROGRAMS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "plugin/backends/common/checked_communicator.h"

namespace hpu::pjrt {

// The program of a collective between `ranks` ranks, in StableHLO text form: one argument (the rank's source) and one
// result (its destination). Ranks other than the root of a broadcast pass any buffer of the same size. Reductions use
// the elements' own type, so sums of bfloat16 are rounded after each addition, as with NCCL. Requires at least one
// element; reductions require peers::IsReducible(dtype). Collectives that only move elements have the same program for
// all types of the same size.
std::string CollectiveProgram(const common::Collective& collective, int ranks);

// A serialised xla::CompileOptionsProto for a program whose replica r runs on the device with the id devices[r]. Fails
// as CompileOptions does.
absl::StatusOr<std::string> CollectiveCompileOptions(absl::string_view plugin_file, absl::Span<const int64_t> devices);

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_COLLECTIVE_PROGRAMS_H_
