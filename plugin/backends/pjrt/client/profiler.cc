#include "plugin/backends/pjrt/client/profiler.h"

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"

namespace hpu::pjrt {
namespace {

// Null if the plugin has no profiler, or if the profiler's function table is shorter than profiler_api::Table.
const profiler_api::Table* FindTable(const Plugin& plugin) {
  for (const PJRT_Extension_Base* extension = plugin.api().extension_start; extension != nullptr;
       extension = extension->next) {
    if (extension->type != PJRT_Extension_Type_Profiler) continue;
    if (extension->struct_size < sizeof(profiler_api::Extension)) return nullptr;
    const profiler_api::Table* table = reinterpret_cast<const profiler_api::Extension*>(extension)->table;
    return table != nullptr && table->struct_size >= sizeof(*table) ? table : nullptr;
  }
  return nullptr;
}

template <typename Arguments>
Arguments Sized() {
  Arguments arguments = {};
  arguments.struct_size = sizeof(Arguments);
  return arguments;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Profiler>> Profiler::Create(const Plugin& plugin, absl::string_view options) {
  const profiler_api::Table* table = FindTable(plugin);
  if (table == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("the PJRT plugin ", plugin.path(), " has no profiler; install another plugin release"));
  }
  std::unique_ptr<Profiler> profiler(new Profiler(table));
  auto create = Sized<profiler_api::Create>();
  create.options = options.data();
  create.options_size = options.size();
  HPU_RETURN_IF_ERROR(profiler->ConsumeError(table->create(&create)));
  profiler->profiler_ = create.profiler;
  return profiler;
}

Profiler::~Profiler() {
  if (profiler_ == nullptr) return;
  auto destroy = Sized<profiler_api::Use>();
  destroy.profiler = profiler_;
  ConsumeError(table_.destroy(&destroy)).IgnoreError();
}

absl::Status Profiler::Start() {
  auto start = Sized<profiler_api::Use>();
  start.profiler = profiler_;
  return ConsumeError(table_.start(&start));
}

absl::Status Profiler::Stop() {
  auto stop = Sized<profiler_api::Use>();
  stop.profiler = profiler_;
  return ConsumeError(table_.stop(&stop));
}

absl::StatusOr<std::string> Profiler::Collect() {
  auto collect = Sized<profiler_api::CollectData>();
  collect.profiler = profiler_;
  HPU_RETURN_IF_ERROR(ConsumeError(table_.collect_data(&collect)));
  std::string data(collect.buffer_size_in_bytes, '\0');
  if (collect.buffer != nullptr) {
    data.assign(reinterpret_cast<const char*>(collect.buffer), data.size());
  } else if (!data.empty()) {  // the caller must provide the memory
    collect.buffer = reinterpret_cast<uint8_t*>(data.data());
    HPU_RETURN_IF_ERROR(ConsumeError(table_.collect_data(&collect)));
  }
  return data;
}

absl::Status Profiler::ConsumeError(profiler_api::Error* error) const {
  if (error == nullptr) return absl::OkStatus();
  auto message = Sized<profiler_api::ErrorMessage>();
  message.error = error;
  table_.error_message(&message);
  auto get = Sized<profiler_api::ErrorGetCode>();
  get.error = error;
  table_.error_get_code(&get);
  const absl::Status status(
      static_cast<absl::StatusCode>(get.code),
      absl::StrCat("profiler of the PJRT plugin: ", absl::string_view(message.message, message.message_size)));
  auto destroy = Sized<profiler_api::ErrorDestroy>();
  destroy.error = error;
  table_.error_destroy(&destroy);
  return status;
}

}  // namespace hpu::pjrt
