// Backend: a kind of device, selected by name with HPU_BACKEND.
#ifndef HPU_PLUGIN_HAL_BACKEND_H_
#define HPU_PLUGIN_HAL_BACKEND_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "plugin/hal/device.h"

namespace hpu::hal {

struct AcquireOptions {
  std::optional<int> module_id;  // HLS_MODULE_ID: only this module is allowed
  std::vector<int> visible;      // HABANA_VISIBLE_MODULES: allowed modules; empty: all
  uint64_t memory_bytes = 0;     // HPU_MEMORY_MB; 0: the backend's default
  // The caller has already claimed `module_id`, so the backend claims no module.
  bool is_claimed = false;
  // Errors to inject for a test, in the syntax of HPU_FAULTS. Unset: the value of HPU_FAULTS.
  std::optional<std::vector<std::string>> faults;
};

// Stateless except for the process-wide claim of a module. Thread safe.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual absl::string_view name() const = 0;
  // Whether the backend wants `operation` (plugin/program/marked_call.h) as a marked call. If not, the compiler emits
  // the operation's plain instructions. Linear algebra is marked for all backends.
  virtual bool MarksOperation(absl::string_view /*operation*/) const { return false; }
  // Number of modules of this machine or server, free or held. Acquires no module.
  virtual absl::StatusOr<int> ModuleCount() = 0;
  // Rejects options that Acquire never accepts, such as a module that does not exist. OK if only Acquire can know.
  // Acquires no module.
  virtual absl::Status CheckOptions(const AcquireOptions& /*options*/) { return absl::OkStatus(); }
  // The DeviceInfo::compiler_target that a device would have if it were acquired now. Unimplemented if the target is
  // known only after a device is acquired. Acquires no module.
  virtual absl::StatusOr<std::string> CompilerTarget() {
    return absl::UnimplementedError(absl::StrCat(
        "the ", name(), " backend has no compiler target before a device is acquired; acquire a device first"));
  }
  // Compiles without a device. Returns a serialised recipe, like Recipe::Serialize. May take seconds. Unimplemented if
  // compilation requires an acquired device. Acquires no module.
  virtual absl::StatusOr<std::string> Compile(const Program& program) {
    return absl::UnimplementedError(absl::StrCat("program '", program.name, "': the ", name(),
                                                 " backend cannot compile without a device; acquire a device first"));
  }
  // The optimised program, from which the backend generates code, as a serialised xla::HloModuleProto. Fails with the
  // errors of Compile. Unimplemented if the backend does not expose its optimised program. Acquires no module.
  virtual absl::StatusOr<std::string> OptimizedProgram(const Program& program) {
    return absl::UnimplementedError(
        absl::StrCat("program '", program.name, "': the ", name(),
                     " backend cannot return the optimised program; set HPU_BACKEND=emulator"));
  }
  // Acquires the first free module that `options` allows. Unavailable if all allowed modules are held. The message
  // names the holders (process id and command) and the remedy.
  virtual absl::StatusOr<std::unique_ptr<Device>> Acquire(const AcquireOptions& options) = 0;
};

// Returns the backend for `spec`, the value of HPU_BACKEND. InvalidArgument for an unknown name; the message lists the
// known names. Backends live as long as the process.
absl::StatusOr<Backend*> GetBackend(absl::string_view spec);

// Called by each backend during static initialisation. `factory` runs at the first GetBackend of `name`. "auto" selects
// the registered backend of the highest priority, unless a scheme finds a device.
using BackendFactory = std::unique_ptr<Backend> (*)();
bool RegisterBackend(const char* name, int priority, BackendFactory factory);
// Registers a factory for all specs "<scheme>:…". The factory receives the whole spec. `find_device`, which may be
// null, returns the spec of a device on this machine for "auto", or an empty string.
using SchemeFactory = std::unique_ptr<Backend> (*)(absl::string_view spec);
using DeviceFinder = std::string (*)();
bool RegisterScheme(const char* scheme, SchemeFactory factory, DeviceFinder find_device = nullptr);
// Sorted names of the backends, without the schemes.
std::vector<std::string> BackendNames();

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_HAL_BACKEND_H_
