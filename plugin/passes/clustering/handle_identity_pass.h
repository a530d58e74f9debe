// Removal of identities of resource handles, so that a cluster gets each variable once.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_HANDLE_IDENTITY_PASS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_HANDLE_IDENTITY_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Connects the users of a handle's Identity to the handle itself. Grappler leaves such an Identity for each variable of
// an inlined call; no cluster may hold it, because it passes a handle to other ops. Users wait for the Identity's
// control inputs instead.
absl::Status BypassHandleIdentities(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_HANDLE_IDENTITY_PASS_H_
