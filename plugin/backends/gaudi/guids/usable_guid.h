// Guids that the Gaudi backend may use: proven ones, and unproven ones where HPU_GAUDI_UNPROVEN allows them.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_GUIDS_USABLE_GUID_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_GUIDS_USABLE_GUID_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/gaudi/guids/guid_table.h"
#include "plugin/backends/gaudi/synapse/generation.h"

namespace hpu::gaudi {

// Whether graphs may contain the guid. Reads HPU_GAUDI_UNPROVEN.
bool IsUsable(const Guid& guid);

// Resolves the guid of a node for a generation. NotFound if the table lacks the guid. Unimplemented if the generation
// lacks the type. FailedPrecondition if the guid is not usable.
absl::StatusOr<GuidMatch> UsableGuid(absl::string_view name, synapse::Generation generation);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_GUIDS_USABLE_GUID_H_
