// Error text for a crash of the compiler.
#ifndef HPU_PLUGIN_COMPILER_CRASH_REPORT_H_
#define HPU_PLUGIN_COMPILER_CRASH_REPORT_H_

#include "absl/status/status.h"
#include "plugin/compiler/lowering.h"

namespace hpu {

// Adds the ops of `source` and a workaround to a status that satisfies containment::IsCrash. Returns other statuses
// unchanged.
absl::Status ExplainCrash(const ClusterSource& source, absl::Status status);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_CRASH_REPORT_H_
