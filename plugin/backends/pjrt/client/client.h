// Client: PJRT client with its device, buffers and programs.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_CLIENT_CLIENT_H_
#define HPU_PLUGIN_BACKENDS_PJRT_CLIENT_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/pjrt/client/buffer_promise.h"
#include "plugin/backends/pjrt/client/handles.h"
#include "plugin/backends/pjrt/client/key_value_store.h"
#include "plugin/backends/pjrt/client/memory_stats.h"
#include "plugin/backends/pjrt/client/plugin.h"

namespace hpu::pjrt {

// Options of PJRT_Client_Create or PJRT_TopologyDescription_Create, by name. The plugin rejects unknown names.
using OptionValue = std::variant<std::string, int64_t, bool, float, std::vector<int64_t>>;
using Options = std::vector<std::pair<std::string, OptionValue>>;

// A compiled program as bytes for Client::Load.
absl::StatusOr<std::string> Serialize(const Plugin& plugin, const PJRT_Executable* executable);
// Device memory that a launch needs besides arguments and results; 0 if the plugin does not report it.
uint64_t TemporaryBytes(const Plugin& plugin, PJRT_Executable* executable);

// The program after the plugin's passes, as a serialised xla::HloModuleProto. Fails with Unimplemented if the plugin
// returns another format.
absl::StatusOr<std::string> OptimizedProgram(const Plugin& plugin, PJRT_Executable* executable);

// A program that a client has compiled or loaded. Must not outlive the client. Immutable and thread safe.
class Executable {
 public:
  // `device`: device of each launch; null for a program that was compiled for its devices.
  Executable(LoadedExecutableHandle loaded, ExecutableHandle executable, PJRT_Device* device)
      : loaded_(std::move(loaded)), executable_(std::move(executable)), device_(device) {}

  PJRT_LoadedExecutable* get() const { return loaded_.get(); }
  PJRT_Device* device() const { return device_; }
  absl::StatusOr<std::string> Serialize() const { return pjrt::Serialize(plugin(), executable_.get()); }
  // Device memory that a launch needs besides arguments and results; 0 if unknown.
  uint64_t temporary_bytes() const { return TemporaryBytes(plugin(), executable_.get()); }
  absl::StatusOr<std::string> OptimizedProgram() const { return pjrt::OptimizedProgram(plugin(), executable_.get()); }

 private:
  const Plugin& plugin() const { return *loaded_.get_deleter().plugin; }

  const LoadedExecutableHandle loaded_;
  const ExecutableHandle executable_;
  PJRT_Device* const device_;
};

// Uses one addressable device. Thread safe. Must outlive all objects that it creates.
class Client {
 public:
  // Uses the first addressable device. The plugin reads no flags from XLA_FLAGS; see HiddenXlaFlags. `store`: shared
  // with other processes whose clients form one client with this one (options node_id and num_nodes); null for a client
  // of this process alone. The client owns the store. Create may block until the other processes call it.
  static absl::StatusOr<std::unique_ptr<Client>> Create(const Plugin& plugin, const Options& options,
                                                        std::unique_ptr<KeyValueStore> store = nullptr);
  // Uses the addressable device `index` of the same PJRT client, which lives as long as one of its users. Programs with
  // one replica that the result compiles or loads run on its device; programs must have been compiled by such a Client.
  // Fails with InvalidArgument if there is no such device.
  absl::StatusOr<std::unique_ptr<Client>> ForDevice(size_t index) const;

  const Plugin& plugin() const { return plugin_; }
  PJRT_Device* device() const { return device_; }
  // Whether the client's programs are compiled for any device (ForDevice).
  bool is_portable() const { return is_portable_; }
  // Number of the device among the devices of all processes that share the client's programs.
  int64_t device_id() const { return device_id_; }
  const std::string& platform_name() const { return platform_name_; }        // "cpu", "cuda"
  const std::string& platform_version() const { return platform_version_; }  // "PJRT C API\ncuda 13000"
  const std::string& device_kind() const { return device_kind_; }            // "NVIDIA H100 80GB HBM3"
  // Fails with Unimplemented if the plugin has no memory statistics.
  absl::StatusOr<MemoryStats> memory_stats() const { return ReadMemoryStats(plugin_, device_); }
  // Appends the plugin's memory statistics to an error of exhausted memory, once. Returns other statuses unchanged.
  absl::Status WithMemoryStats(absl::Status status) const;

  // `hlo`: serialised xla::HloModuleProto. `options`: serialised xla::CompileOptionsProto. May take minutes.
  absl::StatusOr<std::unique_ptr<Executable>> Compile(absl::string_view hlo, absl::string_view options) const;
  // As Compile, for a program in StableHLO text form.
  absl::StatusOr<std::unique_ptr<Executable>> CompileText(absl::string_view stablehlo, absl::string_view options) const;
  // As CompileText, for a program of several devices, which `options` names. Each device launches the program itself.
  absl::StatusOr<std::unique_ptr<Executable>> CompileCollective(absl::string_view stablehlo,
                                                                absl::string_view options) const;
  // Compiles a small program with `options`, to find out whether the plugin accepts them. Returns the plugin's error.
  absl::Status TryOptions(absl::string_view options) const;
  // Inverse of Executable::Serialize. Plugins may load damaged bytes, so the caller must verify them.
  absl::StatusOr<std::unique_ptr<Executable>> Load(absl::string_view bytes) const;

  // A new u8[bytes] buffer with the contents of `data`. If `source_free` is null, `data` has been read when the call
  // returns. Otherwise `data` must stay unchanged until the event *source_free.
  absl::StatusOr<BufferHandle> ToDevice(const void* data, uint64_t bytes, Event* source_free) const;
  // A new u8[bytes] buffer whose contents are written later. Fails with Unimplemented on plugins without transfer
  // managers.
  absl::StatusOr<BufferPromise> Promise(uint64_t bytes) const;
  // Copies all of the buffer's `bytes` bytes to `data`. The buffer must be ready and without an error; otherwise some
  // plugins abort the process.
  absl::StatusOr<Event> ToHost(PJRT_Buffer* buffer, void* data, uint64_t bytes) const;
  // As ToHost, for a part of the buffer. Fails with Unimplemented on plugins without PJRT_Buffer_CopyRawToHost.
  absl::StatusOr<Event> PartToHost(PJRT_Buffer* buffer, uint64_t offset, void* data, uint64_t bytes) const;
  // A u8[bytes] buffer over memory of another buffer of this client, which must be ready. `on_delete` runs when the
  // plugin no longer uses the memory, on any thread.
  absl::StatusOr<BufferHandle> View(void* device_memory, uint64_t bytes, std::function<void()> on_delete) const;
  // Address of the buffer's memory, for View. The buffer must be ready.
  absl::StatusOr<void*> DeviceMemory(PJRT_Buffer* buffer) const;
  // Event that occurs when the buffer's contents are available. If the program that writes the buffer failed, the event
  // has its error.
  absl::StatusOr<Event> Ready(PJRT_Buffer* buffer) const;
  // Whether a launch has consumed the buffer by donation.
  bool IsDeleted(PJRT_Buffer* buffer) const;

 private:
  // Destroyed in reverse order: the PJRT client uses the store.
  struct Shared {
    std::unique_ptr<KeyValueStore> store;
    ClientHandle client;
  };

  Client(const Plugin& plugin, std::shared_ptr<const Shared> shared, bool is_portable)
      : plugin_(plugin), shared_(std::move(shared)), is_portable_(is_portable) {}

  absl::Status Initialize(size_t index);
  absl::StatusOr<std::unique_ptr<Executable>> CompileFormat(absl::string_view format, absl::string_view code,
                                                            absl::string_view options, bool is_portable) const;
  absl::StatusOr<std::unique_ptr<Executable>> Wrap(PJRT_LoadedExecutable* loaded, bool is_portable) const;
  template <typename Object>
  Handle<Object> Own(Object* object) const {
    return Handle<Object>(object, Deleter<Object>{&plugin_});
  }

  PJRT_Client* get() const { return shared_->client.get(); }

  const Plugin& plugin_;
  const std::shared_ptr<const Shared> shared_;
  const bool is_portable_;  // whether programs are compiled for any device, and launched on device_
  PJRT_Device* device_ = nullptr;
  int64_t device_id_ = 0;
  PJRT_Memory* memory_ = nullptr;
  std::string platform_name_;
  std::string platform_version_;
  std::string device_kind_;
};

// Parses "name=value;name=value"; values are true, false, integers, decimal numbers, lists of integers ([0,1]) or text.
// Fails with InvalidArgument for an entry without a name or "=".
absl::StatusOr<Options> ParseOptions(absl::string_view text);

// A program as an argument of PJRT calls, in the format "hlo" or "mlir". Borrows `format` and `code`.
Arguments<PJRT_Program> ProgramArguments(absl::string_view format, absl::string_view code);

// A small program in StableHLO text form.
inline constexpr absl::string_view kSmallProgram =
    "module @small { func.func public @main(%x: tensor<1xf32>) -> tensor<1xf32> { return %x : tensor<1xf32> } }";
// Options as an argument of PJRT calls. Borrows `options`.
std::vector<PJRT_NamedValue> NamedValues(const Options& options);

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_CLIENT_CLIENT_H_
