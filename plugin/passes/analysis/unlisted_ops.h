// Ops that run on the HPU although the active op list does not cover them: collected, and logged in one warning.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_UNLISTED_OPS_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_UNLISTED_OPS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace hpu::passes {

// Adds an op to the next warning, once per process. `list` is a value of HPU_OP_LIST; `op` is an op type, or an op type
// with a type attribute ("Pack with T=int32"). Thread safe.
void AddUnlistedOp(absl::string_view list, const std::string& op);

// Logs one warning with the ops that were added since the last call. Logs nothing without such ops. Called after each
// graph's placement, and when the process ends. Thread safe.
void LogUnlistedOps();

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_UNLISTED_OPS_H_
