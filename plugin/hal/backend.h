// Backend: a kind of device, found by the name that HPU_BACKEND gives.
#ifndef HPU_PLUGIN_HAL_BACKEND_H_
#define HPU_PLUGIN_HAL_BACKEND_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/hal/device.h"

namespace hpu::hal {

struct AcquireOptions {
  std::optional<int> module_id;  // HLS_MODULE_ID: this module and no other
  std::vector<int> visible;      // HABANA_VISIBLE_MODULES: one of these; empty: any
  uint64_t memory_bytes = 0;     // HPU_MEMORY_MB; 0: the backend's default
  // Whether the caller holds `module_id` for the device by other means: the backend then claims nothing.
  bool is_claimed = false;
  // Errors that a test asks for, as HPU_EMULATOR_FAULTS, whose value is taken if this is not there.
  std::optional<std::vector<std::string>> faults;
};

// Stateless but for the process-wide claim of a module. Thread safe.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual absl::string_view name() const = 0;
  // Modules of this machine (or server), whether held or not. Acquires nothing.
  virtual absl::StatusOr<int> ModuleCount() = 0;
  // What recipes compiled here depend on beside the program: DeviceInfo::compiler_target of a device acquired now.
  // Unimplemented where only an acquired device knows. Acquires nothing.
  virtual absl::StatusOr<std::string> CompilerTarget() {
    return absl::UnimplementedError("known once the device is acquired");
  }
  // What Recipe::Serialize gives of what Device::Compile makes, without a device and without loading it. May take
  // seconds. Unimplemented where only an acquired device compiles. Acquires nothing.
  virtual absl::StatusOr<std::string> Compile(const Program& program) {
    return absl::UnimplementedError("an acquired device compiles");
  }
  // Acquires the first free module that the options admit. Unavailable if all are held: the message names the holders
  // (process id and command) and what to do.
  virtual absl::StatusOr<std::unique_ptr<Device>> Acquire(const AcquireOptions& options) = 0;
};

// The backend that `spec` (the value of HPU_BACKEND) names. InvalidArgument for an unknown one, naming those known.
// Backends live as long as the process.
absl::StatusOr<Backend*> GetBackend(absl::string_view spec);

// Called by each backend before main(); `factory` runs at the first GetBackend of `name`. "auto" takes the registered
// backend of the highest priority.
using BackendFactory = std::unique_ptr<Backend> (*)();
bool RegisterBackend(const char* name, int priority, BackendFactory factory);
// The same for the backends of all specs "<scheme>:…"; `factory` gets the whole spec.
using SchemeFactory = std::unique_ptr<Backend> (*)(absl::string_view spec);
bool RegisterScheme(const char* scheme, SchemeFactory factory);
// Names of all but the schemes, sorted.
std::vector<std::string> BackendNames();

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_HAL_BACKEND_H_
