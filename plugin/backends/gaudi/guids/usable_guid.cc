#include "plugin/backends/gaudi/guids/usable_guid.h"

#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/flags/flags.h"

namespace hpu::gaudi {
namespace {

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

bool IsUsable(const Guid& guid) {
  return guid.kind != GuidKind::kInternal && (guid.is_proven || flags::GaudiUnproven());
}

absl::StatusOr<GuidMatch> UsableGuid(absl::string_view name, synapse::Generation generation) {
  const std::optional<GuidMatch> match = FindGuid({name.data(), name.size()});
  if (!match) {
    return absl::NotFoundError(
        absl::StrCat("cannot create a node ", name,
                     ": no such guid and type in plugin/backends/gaudi/guids.yaml; add a row, or "
                     "use another guid (docs/developer/gaudi_guids.md)"));
  }
  const Guid& guid = *match->guid;
  if (guid.kind == GuidKind::kInternal) {
    return absl::FailedPreconditionError(absl::StrCat("cannot create a node ", name,
                                                      ": the guid is internal to the graph compiler; use another guid "
                                                      "(docs/developer/gaudi_guids.md)"));
  }
  if (!IsUsable(guid)) {
    return absl::FailedPreconditionError(absl::StrCat("cannot create a node ", name,
                                                      ": the guid, its operands or its params are uncertain (sources: ",
                                                      View(guid.sources), "); set HPU_GAUDI_UNPROVEN=1 to allow it"));
  }
  for (const synapse::synDataType type : {match->type, match->source_type}) {
    if (type != synapse::syn_type_na && !guid.Supports(generation, type)) {
      return absl::UnimplementedError(
          absl::StrCat("cannot create a node ", name, ": ", synapse::GenerationName(generation), " does not compute ",
                       View(guid.stem), " of ", View(TypeSuffix(type)), "; cast to another type"));
    }
  }
  return *match;
}

}  // namespace hpu::gaudi
