#include "plugin/backends/gaudi/device/acquired_module.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/backends/gaudi/device/driver_holders.h"
#include "plugin/base/log/log.h"
#include "plugin/base/status_macros.h"

namespace hpu::gaudi {
namespace {

absl::StatusOr<synapse::synDeviceId> AcquireDevice(const synapse::Functions& functions, int module_id) {
  synapse::synDeviceId device = synapse::kInvalidId;
  HPU_RETURN_IF_ERROR(HPU_SYNAPSE_CALL(functions, synDeviceAcquireByModuleId,
                                       (&device, static_cast<synapse::synModuleId>(module_id)), "module=", module_id));
  return device;
}

// The error if no candidate module is free. `locked` is the error of the lock files, OK if all lock files were free.
// `refused` lists modules with free lock files that the driver refused.
absl::Status AllHeld(const absl::Status& locked, const std::vector<std::string>& refused) {
  if (refused.empty()) return locked;
  const std::vector<std::string> holders = DriverHolders();
  return absl::UnavailableError(absl::StrCat(
      locked.ok() ? "no Gaudi is free" : locked.message(), ". The driver refused ", absl::StrJoin(refused, "; "), ". ",
      holders.empty() ? "No other process whose files this user may see has a device file open"
                      : absl::StrCat("Open device files: ", absl::StrJoin(holders, "; ")),
      ". End the process that holds a module, or select other modules (HLS_MODULE_ID, HABANA_VISIBLE_MODULES)"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<AcquiredModule>> AcquiredModule::Acquire(Runtime& runtime,
                                                                        const hal::AcquireOptions& options) {
  HPU_ASSIGN_OR_RETURN(const common::Modules modules, runtime.GetModules());
  HPU_ASSIGN_OR_RETURN(std::vector<int> candidates, common::CandidateModules(options, modules));
  if (const int held = runtime.held_module(); held >= 0) {
    return absl::UnavailableError(absl::StrCat("cannot acquire a Gaudi: this process holds module ", held,
                                               ", and SynapseAI allows one device for each process; release it, or "
                                               "start another process"));
  }
  if (options.is_claimed) return AcquireLocked(runtime, std::nullopt, options.module_id.value_or(candidates.front()));
  std::vector<std::string> refused;
  hal::AcquireOptions remaining = options;
  while (!candidates.empty()) {
    remaining.visible = candidates;
    absl::StatusOr<common::ModuleLock> lock = common::ModuleLock::Claim(remaining, modules);
    if (absl::IsUnavailable(lock.status())) return AllHeld(lock.status(), refused);
    if (!lock.ok()) return lock.status();
    const int module_id = lock->module_id();
    auto acquired = AcquireLocked(runtime, *std::move(lock), module_id);
    if (!absl::IsUnavailable(acquired.status())) return acquired;
    refused.push_back(absl::StrCat("module ", module_id, ": ", acquired.status().message()));
    candidates.erase(std::find(candidates.begin(), candidates.end(), module_id));
  }
  return AllHeld(absl::OkStatus(), refused);
}

absl::StatusOr<std::unique_ptr<AcquiredModule>> AcquiredModule::AcquireLocked(Runtime& runtime,
                                                                              std::optional<common::ModuleLock> lock,
                                                                              int module_id) {
  HPU_ASSIGN_OR_RETURN(const synapse::synDeviceId device, AcquireDevice(runtime.functions(), module_id));
  runtime.set_held_module(module_id);
  return std::unique_ptr<AcquiredModule>(new AcquiredModule(runtime, std::move(lock), module_id, device));
}

AcquiredModule::~AcquiredModule() {
  if (const absl::Status status =
          HPU_SYNAPSE_CALL(runtime_.functions(), synDeviceRelease, (device_), "device=", device_);
      !status.ok()) {
    HPU_LOG(kBackend, kWarning) << "cannot release module " << module_id_ << ": " << status.message();
  }
  runtime_.set_held_module(-1);
}

}  // namespace hpu::gaudi
