#include "plugin/hal/backend.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "plugin/backends/common/acquire_options.h"
#include "plugin/backends/common/faults.h"
#include "plugin/backends/common/module_lock.h"
#include "plugin/backends/common/signal_mask.h"
#include "plugin/backends/null/device.h"
#include "plugin/backends/pjrt/client/client.h"
#include "plugin/backends/pjrt/cuda_cards.h"
#include "plugin/backends/pjrt/cuda_libraries.h"
#include "plugin/backends/pjrt/device.h"
#include "plugin/backends/pjrt/directory_store.h"
#include "plugin/backends/pjrt/job_rank.h"
#include "plugin/backends/pjrt/job_rendezvous.h"
#include "plugin/backends/pjrt/plugin_file.h"
#include "plugin/backends/pjrt/recipe.h"
#include "plugin/backends/pjrt/target_compiler.h"
#include "plugin/backends/pjrt/world.h"
#include "plugin/backends/pjrt/xla_settings.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/status_macros.h"
#include "plugin/program/marked_call.h"

namespace hpu::pjrt {
namespace {

constexpr absl::string_view kScheme = "pjrt:";

std::string CompilerTargetOf(const Client& client) {
  return absl::StrCat(
      pjrt::CompilerTargetOf(client.plugin(), client.platform_name(), client.device_kind(), client.platform_version()),
      client.is_portable() ? " portable" : "");
}

// Share of a card's memory that plugins allocate unless the option memory_fraction is set.
uint64_t UsableBytes(uint64_t card_bytes) { return card_bytes / 4 * 3; }

// `defaults`: options for names that HPU_PJRT_OPTIONS does not set. `store`: see Client::Create.
absl::StatusOr<std::unique_ptr<Client>> CreateClient(const Plugin& plugin, const Options& defaults,
                                                     std::unique_ptr<KeyValueStore> store = nullptr) {
  const common::ScopedSignalMask mask;  // inherited by the client's threads
  auto options = ParseOptions(flags::PjrtOptions());
  if (!options.ok()) return absl::InvalidArgumentError(absl::StrCat("HPU_PJRT_OPTIONS: ", options.status().message()));
  for (const auto& option : defaults) {
    if (!absl::c_any_of(*options, [&](const auto& set) { return set.first == option.first; })) {
      options->push_back(option);
    }
  }
  auto created = Client::Create(plugin, *options, std::move(store));
  if (!created.ok()) return IsForCuda(plugin.path()) ? CudaClientError(created.status()) : created.status();
  std::unique_ptr<Client> client = *std::move(created);
  HPU_RETURN_IF_ERROR(InitializeXlaSettings(
      plugin.path(), [&client](absl::string_view options) { return client->TryOptions(options); }));
  return client;
}

bool RunsCollectives() { return flags::PjrtCollectives() == flags::PjrtCollectivesSetting::kDevice; }

// Whether this process is part of a job whose processes meet (HPU_PJRT_RENDEZVOUS). Devices of CPU plugins without a
// job run collectives within the process.
bool IsMemberOfJob(const Plugin& plugin) {
  return RunsCollectives() && (!IsForCpu(plugin.path()) || !flags::PjrtRendezvous().empty());
}

// Returns a random id of the job's clients, which rank 0 chooses.
absl::StatusOr<uint64_t> AgreeOnId(const JobRank& job, KeyValueStore& store) {
  constexpr absl::string_view kKey = "hpu/world";
  // Gives the other processes time to import TensorFlow.
  constexpr auto kMaxWait = std::chrono::minutes(5);
  if (job.rank == 0) {
    const uint64_t id = NewWorldId();
    HPU_RETURN_IF_ERROR(store.Put(kKey, absl::StrCat(id)));
    return id;
  }
  HPU_ASSIGN_OR_RETURN(const std::string text, store.Get(kKey, kMaxWait));
  uint64_t id = 0;
  if (absl::SimpleAtoi(text, &id)) return id;
  return absl::InternalError(absl::StrCat("the key ", kKey, " in ", job.directory, " is not a number: ", text,
                                          "; give each job a directory of its own"));
}

// A client for the module, and what its collectives need (HPU_PJRT_COLLECTIVES).
struct Member {
  std::unique_ptr<Client> client;
  std::shared_ptr<World> world;        // null if collectives go through host memory
  std::unique_ptr<JobRendezvous> job;  // null if the ranks of a communicator are in this process
};

// Blocks until all processes of the job call the function equally often. Their clients form one client, except for CPU
// plugins, which have no collectives between processes: their data goes through host memory.
absl::StatusOr<Member> JoinProcesses(const Plugin& plugin, Options options) {
  HPU_ASSIGN_OR_RETURN(const JobRank job, ParseJobRank(flags::PjrtRendezvous()));
  // Keys of an earlier client of this job would be out of date.
  static std::atomic<int> clients{0};
  const std::string prefix = absl::StrCat(clients++, "-");
  auto store = std::make_unique<DirectoryStore>(job.directory, prefix);
  HPU_ASSIGN_OR_RETURN(const uint64_t id, AgreeOnId(job, *store));
  Member member;
  member.job = std::make_unique<JobRendezvous>(id, std::make_unique<DirectoryStore>(job.directory, prefix));
  if (IsForCpu(plugin.path())) {
    HPU_ASSIGN_OR_RETURN(member.client, CreateClient(plugin, options));
    return member;
  }
  options.emplace_back("node_id", int64_t{job.rank});
  options.emplace_back("num_nodes", int64_t{job.size});
  HPU_ASSIGN_OR_RETURN(member.client, CreateClient(plugin, options, std::move(store)));
  member.world = std::make_shared<World>(id, /*client=*/nullptr);
  return member;
}

// Fails with InvalidArgument if the module is no device of the client.
absl::StatusOr<Member> CreateMember(const Plugin& plugin, const Options& defaults, int module_id) {
  Member member;
  if (IsMemberOfJob(plugin)) return JoinProcesses(plugin, defaults);
  if (RunsCollectives()) {
    HPU_ASSIGN_OR_RETURN(World::Member own, World::InProcess(plugin, flags::PjrtOptions(), module_id,
                                                             [&] { return CreateClient(plugin, defaults); }));
    member.client = std::move(own.client);
    member.world = std::move(own.world);
  } else {
    HPU_ASSIGN_OR_RETURN(member.client, CreateClient(plugin, defaults));
  }
  return member;
}

// Bytes for tensors on a device with `device_bytes` bytes (0: unknown). The options or HPU_MEMORY_MB may lower the
// number.
absl::StatusOr<uint64_t> TensorBytes(const hal::AcquireOptions& options, uint64_t device_bytes) {
  return device_bytes == 0 ? common::DeviceMemoryBytes(options) : common::CardMemoryBytes(options, device_bytes);
}

class PjrtBackend final : public hal::Backend {
 public:
  explicit PjrtBackend(absl::string_view spec) : spec_(spec) {}

  absl::string_view name() const override { return spec_; }

  // Operations for which GPU libraries have better kernels than XLA. Plugins inline the calls.
  bool MarksOperation(absl::string_view operation) const override {
    return operation == kLayerNorm || operation == kLayerNormGradient || operation == kAttention;
  }

  absl::StatusOr<int> ModuleCount() override {
    HPU_ASSIGN_OR_RETURN(const Plugin* plugin, LoadPlugin());
    HPU_ASSIGN_OR_RETURN(const common::Modules modules, ModulesOf(*plugin));
    return static_cast<int>(modules.ids.size());
  }

  absl::Status CheckOptions(const hal::AcquireOptions& options) override {
    if (has_target()) return absl::OkStatus();  // a target has no modules
    HPU_ASSIGN_OR_RETURN(const Plugin* plugin, LoadPlugin());
    HPU_ASSIGN_OR_RETURN(const common::Modules modules, ModulesOf(*plugin));
    if (IsMemberOfJob(*plugin)) HPU_RETURN_IF_ERROR(ParseJobRank(flags::PjrtRendezvous()).status());
    return common::CandidateModules(options, modules).status();
  }

  absl::StatusOr<std::string> CompilerTarget() override {
    if (has_target()) {
      HPU_ASSIGN_OR_RETURN(const auto compiler, CreateTargetCompiler());
      return compiler->compiler_target();
    }
    HPU_ASSIGN_OR_RETURN(const std::unique_ptr<Client> client, CreateCompiler());
    return CompilerTargetOf(*client);
  }

  absl::StatusOr<std::string> Compile(const hal::Program& program) override {
    if (has_target()) {
      HPU_ASSIGN_OR_RETURN(const auto compiler, CreateTargetCompiler());
      HPU_ASSIGN_OR_RETURN(const auto recipe, compiler->Compile(program));
      return recipe->Serialize();
    }
    HPU_ASSIGN_OR_RETURN(const std::unique_ptr<Client> client, CreateCompiler());
    HPU_ASSIGN_OR_RETURN(const auto recipe, PjrtRecipe::Compile(*client, CompilerTargetOf(*client), program));
    return recipe->Serialize();
  }

  absl::StatusOr<std::string> OptimizedProgram(const hal::Program& program) override {
    HPU_ASSIGN_OR_RETURN(const std::unique_ptr<Client> client, CreateCompiler());
    HPU_ASSIGN_OR_RETURN(const auto recipe, PjrtRecipe::Compile(*client, CompilerTargetOf(*client), program));
    return recipe->executable().OptimizedProgram();
  }

  absl::StatusOr<std::unique_ptr<hal::Device>> Acquire(const hal::AcquireOptions& options) override {
    HPU_ASSIGN_OR_RETURN(common::Faults faults, common::Faults::Of(options));
    if (has_target()) return AcquireTarget(options, std::move(faults));
    HPU_ASSIGN_OR_RETURN(const Plugin* plugin, LoadPlugin());
    std::optional<common::ModuleLock> lock;
    int module_id = options.module_id.value_or(0);
    if (!options.is_claimed) {
      HPU_ASSIGN_OR_RETURN(const common::Modules modules, ModulesOf(*plugin));
      HPU_ASSIGN_OR_RETURN(common::ModuleLock claimed, common::ModuleLock::Claim(options, modules));
      module_id = claimed.module_id();
      lock.emplace(std::move(claimed));
    }
    Options defaults;
    if (IsForCuda(plugin->path())) {
      LoadCudaLibraries(plugin->path());
      defaults = CudaOptions(module_id);
    }
    HPU_ASSIGN_OR_RETURN(Member member, CreateMember(*plugin, defaults, module_id));
    std::unique_ptr<Client>& client = member.client;
    const auto stats = client->memory_stats();
    HPU_ASSIGN_OR_RETURN(const uint64_t bytes, TensorBytes(options, stats.ok() ? stats->limit.value_or(0) : 0));
    hal::DeviceInfo info = Info(module_id, bytes, CompilerTargetOf(*client));
    info.description = absl::StrCat(client->device_kind(), " by PJRT, module ", module_id);
    HPU_ASSIGN_OR_RETURN(auto reservation, common::Reservation::Create(bytes, common::Reservation::Data::kNone));
    return std::make_unique<PjrtDevice>(std::move(info), std::move(lock), std::move(client), std::move(member.world),
                                        std::move(member.job), std::move(reservation), std::move(faults));
  }

 private:
  static absl::StatusOr<common::Modules> ModulesOf(const Plugin& plugin) {
    return IsForCuda(plugin.path()) && !has_target() ? CudaModules() : common::EmulatedModules();
  }

  static bool has_target() { return !flags::PjrtTarget().empty(); }

  absl::StatusOr<std::unique_ptr<TargetCompiler>> CreateTargetCompiler() const {
    HPU_ASSIGN_OR_RETURN(const Target target, FindTarget(flags::PjrtTarget()));
    return CreateTargetCompiler(target);
  }
  absl::StatusOr<std::unique_ptr<TargetCompiler>> CreateTargetCompiler(const Target& target) const {
    HPU_ASSIGN_OR_RETURN(const Plugin* plugin, LoadPlugin());
    return TargetCompiler::Create(*plugin, target);
  }

  hal::DeviceInfo Info(int module_id, uint64_t bytes, std::string compiler_target) const {
    hal::DeviceInfo info;
    info.backend = spec_;
    info.type = flags::DeviceType();
    info.module_id = module_id;
    info.memory_bytes = bytes;
    info.compiler_target = std::move(compiler_target);
    return info;
  }

  // A null device with the target's memory size. The device claims no module, because there is no card.
  absl::StatusOr<std::unique_ptr<hal::Device>> AcquireTarget(const hal::AcquireOptions& options,
                                                             common::Faults faults) const {
    HPU_ASSIGN_OR_RETURN(const Target target, FindTarget(flags::PjrtTarget()));
    HPU_ASSIGN_OR_RETURN(auto compiler, CreateTargetCompiler(target));
    HPU_ASSIGN_OR_RETURN(uint64_t bytes, common::DeviceMemoryBytes(options));
    if (target.memory_bytes > 0) bytes = UsableBytes(target.memory_bytes);
    hal::DeviceInfo info = Info(0, bytes, compiler->compiler_target());
    info.description = absl::StrCat(compiler->device_kind(), ", not present: computes nothing");
    info.is_present = false;
    HPU_ASSIGN_OR_RETURN(auto reservation, common::Reservation::Create(bytes, common::Reservation::Data::kNone));
    return std::make_unique<null::NullDevice>(std::move(info), std::move(reservation), std::move(faults),
                                              std::move(compiler), std::make_unique<null::HostValues>());
  }

  absl::StatusOr<const Plugin*> LoadPlugin() const {
    HPU_ASSIGN_OR_RETURN(const std::string file, PluginFile(absl::StripPrefix(spec_, kScheme)));
    return Plugin::Load(file);
  }

  // A client for compilation only. Fails with Unimplemented for accelerators, because a client occupies the
  // accelerator.
  absl::StatusOr<std::unique_ptr<Client>> CreateCompiler() const {
    HPU_ASSIGN_OR_RETURN(const Plugin* plugin, LoadPlugin());
    if (!IsForCpu(plugin->path())) {
      return absl::UnimplementedError(
          absl::StrCat("HPU_BACKEND=", spec_, " compiles only on an acquired device; acquire the device first"));
    }
    HPU_ASSIGN_OR_RETURN(std::unique_ptr<Client> client, CreateClient(*plugin, /*defaults=*/{}));
    if (!RunsCollectives() || IsMemberOfJob(*plugin)) return client;
    return client->ForDevice(0);  // its recipes run on each device of the process (World::InProcess)
  }

  const std::string spec_;
};

const bool registered = hal::RegisterScheme(
    "pjrt", [](absl::string_view spec) -> std::unique_ptr<hal::Backend> { return std::make_unique<PjrtBackend>(spec); },
    [] { return FindCuda(); });

}  // namespace
}  // namespace hpu::pjrt
