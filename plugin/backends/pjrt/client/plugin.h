// Plugin: PJRT plugin loaded into this process, and calls through its function table.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_CLIENT_PLUGIN_H_
#define HPU_PLUGIN_BACKENDS_PJRT_CLIENT_PLUGIN_H_

#include <atomic>
#include <cstddef>
#include <cstring>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pjrt_c_api.h"

namespace hpu::pjrt {

// Oldest minor version of the PJRT C API that this library supports. 0.57 changed the order of the function table.
inline constexpr int kMinMinorVersion = 57;

// Arguments of one PJRT call: a zeroed struct with its size set. A plugin that is older or newer than the header
// expects a shorter or longer struct. `padding` provides the zeros of a longer struct.
template <typename Args>
struct Arguments {
  Arguments() {
    if (!kIsSmall) std::memset(padding, 0, sizeof(padding));
    std::memset(&args, 0, sizeof(args));
    args.struct_size = sizeof(Args);
  }

  Args* operator->() { return &args; }
  const Args* operator->() const { return &args; }

  // Plugin::Call clears the padding of small structs only when the plugin expects a longer struct. Calls that run at
  // every launch (waits for events, destruction of handles) have small structs.
  static constexpr bool kIsSmall = sizeof(Args) <= 32;

  Args args;
  char padding[128];
};

// Never unloaded: threads of the plugin run until the process ends. Thread safe.
class Plugin {
 public:
  // The plugin in the shared library `path`. The first call loads and initialises the library. Fails with NotFound if
  // there is no such file. Fails with FailedPrecondition if the file cannot be loaded, is not a PJRT plugin, or has an
  // unsupported version.
  static absl::StatusOr<const Plugin*> Load(const std::string& path);
  // A plugin with the function table `api`, for tests. Performs the same checks as Load.
  static absl::StatusOr<const Plugin*> Of(const std::string& name, const PJRT_Api* api);

  const std::string& path() const { return path_; }
  const PJRT_Api& api() const { return *api_; }
  // Version of the PJRT C API, for example "0.81".
  std::string version() const;
  // Attributes of the plugin as text, for example "xla_version".
  const std::map<std::string, std::string>& attributes() const { return attributes_; }

  // Whether the plugin has an optional function, such as &PJRT_Api::PJRT_Buffer_CopyRawToHost.
  template <typename Function>
  bool Has(Function PJRT_Api::*function) const {
    const Function& entry = api_->*function;
    const size_t end = reinterpret_cast<const char*>(&entry + 1) - reinterpret_cast<const char*>(api_);
    return api_->struct_size >= end && entry != nullptr;
  }

  // Whether the plugin's XLA has read its flags, which happens once (HiddenXlaFlags). Thread safe.
  bool has_read_flags() const { return has_read_flags_.load(std::memory_order_acquire); }
  void set_has_read_flags() const { has_read_flags_.store(true, std::memory_order_release); }

  // Calls a function of the plugin. Fails with Unimplemented and `name` if the plugin lacks the function. HPU_PJRT_CALL
  // passes the name.
  template <typename Args>
  absl::Status Call(PJRT_Error* (*PJRT_Api::*function)(Args*), const char* name, Arguments<Args>& arguments) const {
    if (!Has(function)) return Missing(name);
    PJRT_Error* error = (api_->*function)(&arguments.args);
    if (error == nullptr) return absl::OkStatus();
    absl::Status status = ConsumeError(error);
    if (!Lengthen(status, sizeof(Arguments<Args>), &arguments.args.struct_size)) return Named(name, status);
    if (arguments.kIsSmall) std::memset(arguments.padding, 0, sizeof(arguments.padding));
    error = (api_->*function)(&arguments.args);
    return error == nullptr ? absl::OkStatus() : Named(name, ConsumeError(error));
  }

  // Converts `error` to a status and destroys `error`.
  absl::Status ConsumeError(PJRT_Error* error) const;

 private:
  Plugin(std::string path, const PJRT_Api* api) : path_(std::move(path)), api_(api) {}

  absl::Status Initialize();
  absl::Status Missing(const char* name) const;
  absl::Status Named(const char* name, const absl::Status& status) const;
  // Returns true if `status` means that the plugin expects a longer struct of at most `capacity` bytes. Then sets
  // `struct_size` to the expected size.
  static bool Lengthen(const absl::Status& status, size_t capacity, size_t* struct_size);

  const std::string path_;
  const PJRT_Api* const api_;
  std::map<std::string, std::string> attributes_;
  mutable std::atomic<bool> has_read_flags_{false};
};

#define HPU_PJRT_CALL(plugin, function, arguments) (plugin).Call(&PJRT_Api::function, #function, arguments)

// The value as text; lists are joined by commas.
std::string ToString(const PJRT_NamedValue& value);

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_CLIENT_PLUGIN_H_
