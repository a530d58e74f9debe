#include "plugin/backends/gaudi/device/runtime.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"

namespace hpu::gaudi {
namespace {

// Ids of `count` modules. Releases without synDeviceGetModuleIDs number the modules from 0.
absl::StatusOr<std::vector<int>> ModuleIds(const synapse::Library& library, uint32_t count) {
  std::vector<uint32_t> ids(count);
  for (uint32_t i = 0; i < count; ++i) ids[i] = i;
  if (library.functions_1_18().synDeviceGetModuleIDs != nullptr) {
    HPU_RETURN_IF_ERROR(
        HPU_SYNAPSE_CALL(library.functions_1_18(), synDeviceGetModuleIDs, (ids.data(), &count), "count=", ids.size()));
    if (count < ids.size()) ids.resize(count);
  }
  return std::vector<int>(ids.begin(), ids.end());
}

}  // namespace

absl::StatusOr<std::unique_ptr<Runtime>> Runtime::Start(const std::string& path) {
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<synapse::Library> library, synapse::Library::Open(path));
  HPU_RETURN_IF_ERROR(HPU_SYNAPSE_CALL(library->functions(), synInitialize, ()));
  return std::unique_ptr<Runtime>(new Runtime(std::move(library)));
}

Runtime::~Runtime() {
  if (!liveness_.forked()) functions().synDestroy();
}

absl::StatusOr<common::Modules> Runtime::GetModules() const {
  HPU_RETURN_IF_ERROR(Check());
  uint32_t count = 0;
  HPU_RETURN_IF_ERROR(HPU_SYNAPSE_CALL(functions(), synDeviceGetCount, (&count)));
  common::Modules modules;
  if (count > 0) {
    HPU_ASSIGN_OR_RETURN(modules.ids, ModuleIds(*library_, count));
  }
  if (modules.ids.empty()) {
    return absl::UnavailableError(
        absl::StrCat("no Gaudi: SynapseAI ", library_->version(), " (", library_->path(),
                     ") finds no device; check the driver with hl-smi, and HABANA_VISIBLE_DEVICES in a container"));
  }
  modules.kind = "Gaudi";
  modules.lock_name = "gaudi";
  modules.setting = absl::StrCat("devices that SynapseAI finds: ", modules.ids.size());
  modules.remedy_of_shortage = "use a machine with more devices";
  return modules;
}

}  // namespace hpu::gaudi
