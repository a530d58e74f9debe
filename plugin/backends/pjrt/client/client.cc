#include "plugin/backends/pjrt/client/client.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "plugin/backends/pjrt/client/hidden_xla_flags.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/status_payloads.h"
#include "xla/xla.pb.h"

namespace hpu::pjrt {
namespace {

// compile_portable_executable = true, as a field of a serialised xla::CompileOptionsProto.
constexpr absl::string_view kPortable = "\x20\x01";

OptionValue ParseValue(absl::string_view text) {
  if (text == "true" || text == "false") return text == "true";
  int64_t number = 0;
  if (absl::SimpleAtoi(text, &number)) return number;
  float fraction = 0;
  if (absl::SimpleAtof(text, &fraction)) return fraction;
  absl::string_view inside = text;
  if (!absl::ConsumePrefix(&inside, "[") || !absl::ConsumeSuffix(&inside, "]")) return std::string(text);
  std::vector<int64_t> numbers;
  for (const absl::string_view item : absl::StrSplit(inside, ',', absl::SkipWhitespace())) {
    if (!absl::SimpleAtoi(item, &number)) return std::string(text);
    numbers.push_back(number);
  }
  return numbers;
}

PJRT_NamedValue NamedValue(const std::string& name, const OptionValue& value) {
  Arguments<PJRT_NamedValue> named;
  named->name = name.data();
  named->name_size = name.size();
  named->value_size = 1;
  if (const auto* text = std::get_if<std::string>(&value)) {
    named->type = PJRT_NamedValue_kString;
    named->string_value = text->data();
    named->value_size = text->size();
  } else if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
    named->type = PJRT_NamedValue_kInt64List;
    named->int64_array_value = list->data();
    named->value_size = list->size();
  } else if (const auto* number = std::get_if<int64_t>(&value)) {
    named->type = PJRT_NamedValue_kInt64;
    named->int64_value = *number;
  } else if (const auto* fraction = std::get_if<float>(&value)) {
    named->type = PJRT_NamedValue_kFloat;
    named->float_value = *fraction;
  } else {
    named->type = PJRT_NamedValue_kBool;
    named->bool_value = std::get<bool>(value);
  }
  return named.args;
}

}  // namespace

absl::StatusOr<Options> ParseOptions(absl::string_view text) {
  Options options;
  for (const absl::string_view entry : absl::StrSplit(text, ';', absl::SkipWhitespace())) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(entry, absl::MaxSplits('=', 1));
    const std::string name(absl::StripAsciiWhitespace(parts.first));
    if (name.empty() || !absl::StrContains(entry, '=')) {
      return absl::InvalidArgumentError(absl::StrCat("expected name=value, got \"", entry, "\""));
    }
    options.emplace_back(name, ParseValue(absl::StripAsciiWhitespace(parts.second)));
  }
  return options;
}

std::vector<PJRT_NamedValue> NamedValues(const Options& options) {
  std::vector<PJRT_NamedValue> values;
  for (const auto& [name, value] : options) values.push_back(NamedValue(name, value));
  return values;
}

Arguments<PJRT_Program> ProgramArguments(absl::string_view format, absl::string_view code) {
  Arguments<PJRT_Program> program;
  program->code = const_cast<char*>(code.data());  // PJRT only reads the code
  program->code_size = code.size();
  program->format = format.data();
  program->format_size = format.size();
  return program;
}

absl::StatusOr<std::string> Serialize(const Plugin& plugin, const PJRT_Executable* executable) {
  Arguments<PJRT_Executable_Serialize_Args> serialize;
  serialize->executable = executable;
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin, PJRT_Executable_Serialize, serialize));
  std::string bytes(serialize->serialized_bytes, serialize->serialized_bytes_size);
  serialize->serialized_executable_deleter(serialize->serialized_executable);
  return bytes;
}

uint64_t TemporaryBytes(const Plugin& plugin, PJRT_Executable* executable) {
  Arguments<PJRT_Executable_GetCompiledMemoryStats_Args> get;
  get->executable = executable;
  const absl::Status status = HPU_PJRT_CALL(plugin, PJRT_Executable_GetCompiledMemoryStats, get);
  return status.ok() ? static_cast<uint64_t>(std::max<int64_t>(get->temp_size_in_bytes, 0)) : 0;
}

absl::StatusOr<std::string> OptimizedProgram(const Plugin& plugin, PJRT_Executable* executable) {
  Arguments<PJRT_Program> program;
  Arguments<PJRT_Executable_OptimizedProgram_Args> get;
  get->executable = executable;
  get->program = &program.args;
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin, PJRT_Executable_OptimizedProgram, get));  // the first call sets the sizes
  std::string code(program->code_size, '\0');
  program->code = code.data();
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin, PJRT_Executable_OptimizedProgram, get));
  const std::string format(program->format, program->format_size);
  if (format == "hlo") return code;
  xla::HloModuleProtoWithConfig module;
  if (format == "hlo_with_config" && module.ParseFromString(code)) return module.hlo_module().SerializeAsString();
  return absl::UnimplementedError(
      absl::StrCat("the optimised program is not available: expected the format hlo or hlo_with_config, but the PJRT "
                   "plugin returned ",
                   format));
}

absl::StatusOr<std::unique_ptr<Client>> Client::Create(const Plugin& plugin, const Options& options,
                                                       std::unique_ptr<KeyValueStore> store) {
  const std::vector<PJRT_NamedValue> values = NamedValues(options);
  Arguments<PJRT_Client_Create_Args> create;
  create->create_options = values.data();
  create->num_options = values.size();
  if (store != nullptr) SetKeyValueCallbacks(store.get(), &create.args);
  return CreateWithoutXlaFlags(plugin, [&]() -> absl::StatusOr<std::unique_ptr<Client>> {
    HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin, PJRT_Client_Create, create));
    auto shared = std::make_shared<Shared>();
    shared->store = std::move(store);
    shared->client = ClientHandle(create->client, Deleter<PJRT_Client>{&plugin});
    std::unique_ptr<Client> client(new Client(plugin, std::move(shared), /*is_portable=*/false));
    HPU_RETURN_IF_ERROR(client->Initialize(/*index=*/0));
    return client;
  });
}

absl::StatusOr<std::unique_ptr<Client>> Client::ForDevice(size_t index) const {
  std::unique_ptr<Client> client(new Client(plugin_, shared_, /*is_portable=*/true));
  HPU_RETURN_IF_ERROR(client->Initialize(index));
  return client;
}

absl::Status Client::Initialize(size_t index) {
  Arguments<PJRT_Client_PlatformName_Args> name;
  name->client = get();
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin_, PJRT_Client_PlatformName, name));
  platform_name_.assign(name->platform_name, name->platform_name_size);
  Arguments<PJRT_Client_PlatformVersion_Args> version;
  version->client = get();
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin_, PJRT_Client_PlatformVersion, version));
  platform_version_.assign(version->platform_version, version->platform_version_size);
  Arguments<PJRT_Client_AddressableDevices_Args> devices;
  devices->client = get();
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin_, PJRT_Client_AddressableDevices, devices));
  if (devices->num_addressable_devices == 0) {
    return absl::UnavailableError(absl::StrCat(
        "the PJRT plugin ", plugin_.path(), " found no device: check the accelerator's driver and HPU_PJRT_OPTIONS"));
  }
  if (index >= devices->num_addressable_devices) {
    return absl::InvalidArgumentError(absl::StrCat("the PJRT plugin ", plugin_.path(), " has no device ", index,
                                                   ": it found ", devices->num_addressable_devices,
                                                   "; correct the module or HPU_PJRT_OPTIONS"));
  }
  device_ = devices->addressable_devices[index];
  Arguments<PJRT_Device_GetDescription_Args> description;
  description->device = device_;
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin_, PJRT_Device_GetDescription, description));
  Arguments<PJRT_DeviceDescription_Id_Args> id;
  id->device_description = description->device_description;
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin_, PJRT_DeviceDescription_Id, id));
  device_id_ = id->id;
  Arguments<PJRT_DeviceDescription_Kind_Args> kind;
  kind->device_description = description->device_description;
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin_, PJRT_DeviceDescription_Kind, kind));
  device_kind_.assign(kind->device_kind, kind->device_kind_size);
  Arguments<PJRT_Device_DefaultMemory_Args> memory;
  memory->device = device_;
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin_, PJRT_Device_DefaultMemory, memory));
  memory_ = memory->memory;
  return absl::OkStatus();
}

absl::Status Client::WithMemoryStats(absl::Status status) const {
  if (!absl::IsResourceExhausted(status) || Has(status, Payload::kMemoryStatistics)) return status;
  const auto stats = memory_stats();
  if (!stats.ok()) return status;
  const absl::string_view text = absl::StripSuffix(status.message(), ".");
  return With(Reworded(status, absl::StrCat(text, "; device memory by the plugin: ", Describe(*stats))),
              Payload::kMemoryStatistics);
}

absl::StatusOr<std::unique_ptr<Executable>> Client::Compile(absl::string_view hlo, absl::string_view options) const {
  return CompileFormat("hlo", hlo, options, is_portable_);
}

absl::StatusOr<std::unique_ptr<Executable>> Client::CompileText(absl::string_view stablehlo,
                                                                absl::string_view options) const {
  return CompileFormat("mlir", stablehlo, options, is_portable_);
}

absl::StatusOr<std::unique_ptr<Executable>> Client::CompileCollective(absl::string_view stablehlo,
                                                                      absl::string_view options) const {
  return CompileFormat("mlir", stablehlo, options, /*is_portable=*/false);
}

absl::Status Client::TryOptions(absl::string_view options) const {
  return CompileText(kSmallProgram, options).status();
}

absl::StatusOr<std::unique_ptr<Executable>> Client::CompileFormat(absl::string_view format, absl::string_view code,
                                                                  absl::string_view options, bool is_portable) const {
  std::string portable_options;
  if (is_portable) {
    portable_options = absl::StrCat(options, kPortable);
    options = portable_options;
  }
  Arguments<PJRT_Program> program = ProgramArguments(format, code);
  Arguments<PJRT_Client_Compile_Args> compile;
  compile->client = get();
  compile->program = &program.args;
  compile->compile_options = options.data();
  compile->compile_options_size = options.size();
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin_, PJRT_Client_Compile, compile));
  return Wrap(compile->executable, is_portable);
}

absl::StatusOr<std::unique_ptr<Executable>> Client::Load(absl::string_view bytes) const {
  Arguments<PJRT_Executable_DeserializeAndLoad_Args> load;
  load->client = get();
  load->serialized_executable = bytes.data();
  load->serialized_executable_size = bytes.size();
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin_, PJRT_Executable_DeserializeAndLoad, load));
  return Wrap(load->loaded_executable, is_portable_);
}

absl::StatusOr<std::unique_ptr<Executable>> Client::Wrap(PJRT_LoadedExecutable* loaded, bool is_portable) const {
  LoadedExecutableHandle owned = Own(loaded);
  Arguments<PJRT_LoadedExecutable_GetExecutable_Args> get;
  get->loaded_executable = loaded;
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin_, PJRT_LoadedExecutable_GetExecutable, get));
  return std::make_unique<Executable>(std::move(owned), Own(get->executable), is_portable ? device_ : nullptr);
}

absl::StatusOr<BufferHandle> Client::ToDevice(const void* data, uint64_t bytes, Event* source_free) const {
  const int64_t dims[1] = {static_cast<int64_t>(bytes)};
  Arguments<PJRT_Client_BufferFromHostBuffer_Args> copy;
  copy->client = get();
  copy->data = data;
  copy->type = PJRT_Buffer_Type_U8;
  copy->dims = dims;
  copy->num_dims = 1;
  copy->host_buffer_semantics = source_free == nullptr ? PJRT_HostBufferSemantics_kImmutableOnlyDuringCall
                                                       : PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes;
  copy->device = device_;
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin_, PJRT_Client_BufferFromHostBuffer, copy));
  BufferHandle buffer = Own(copy->buffer);
  Event done(plugin_, copy->done_with_host_buffer);
  if (source_free != nullptr) {
    *source_free = std::move(done);
  } else {
    HPU_RETURN_IF_ERROR(done.Await());
  }
  return buffer;
}

absl::StatusOr<BufferPromise> Client::Promise(uint64_t bytes) const {
  const int64_t dims[1] = {static_cast<int64_t>(bytes)};
  Arguments<PJRT_ShapeSpec> shape;
  shape->dims = dims;
  shape->num_dims = 1;
  shape->element_type = PJRT_Buffer_Type_U8;
  Arguments<PJRT_Client_CreateBuffersForAsyncHostToDevice_Args> create;
  create->client = get();
  create->shape_specs = &shape.args;
  create->num_shape_specs = 1;
  create->memory = memory_;
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin_, PJRT_Client_CreateBuffersForAsyncHostToDevice, create));
  TransferManagerHandle manager = Own(create->transfer_manager);
  Arguments<PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args> retrieve;
  retrieve->transfer_manager = manager.get();
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin_, PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer, retrieve));
  return BufferPromise(std::move(manager), Own(retrieve->buffer_out), bytes);
}

absl::StatusOr<Event> Client::ToHost(PJRT_Buffer* buffer, void* data, uint64_t bytes) const {
  Arguments<PJRT_Buffer_ToHostBuffer_Args> copy;
  copy->src = buffer;
  copy->dst = data;
  copy->dst_size = bytes;
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin_, PJRT_Buffer_ToHostBuffer, copy));
  return Event(plugin_, copy->event);
}

absl::StatusOr<Event> Client::PartToHost(PJRT_Buffer* buffer, uint64_t offset, void* data, uint64_t bytes) const {
  Arguments<PJRT_Buffer_CopyRawToHost_Args> copy;
  copy->buffer = buffer;
  copy->dst = data;
  copy->offset = static_cast<int64_t>(offset);
  copy->transfer_size = static_cast<int64_t>(bytes);
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin_, PJRT_Buffer_CopyRawToHost, copy));
  return Event(plugin_, copy->event);
}

absl::StatusOr<BufferHandle> Client::View(void* device_memory, uint64_t bytes, std::function<void()> on_delete) const {
  const int64_t dims[1] = {static_cast<int64_t>(bytes)};
  auto callback = std::make_unique<std::function<void()>>(std::move(on_delete));
  Arguments<PJRT_Client_CreateViewOfDeviceBuffer_Args> view;
  view->client = get();
  view->device_buffer_ptr = device_memory;
  view->dims = dims;
  view->num_dims = 1;
  view->element_type = PJRT_Buffer_Type_U8;
  view->memory = memory_;
  view->device = device_;
  // Required, because plugins call the callback even if it is null, and then crash.
  view->on_delete_callback = [](void*, void* argument) {
    const std::unique_ptr<std::function<void()>> callback(static_cast<std::function<void()>*>(argument));
    (*callback)();
  };
  view->on_delete_callback_arg = callback.get();
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin_, PJRT_Client_CreateViewOfDeviceBuffer, view));
  static_cast<void>(callback.release());
  return Own(view->buffer);
}

absl::StatusOr<void*> Client::DeviceMemory(PJRT_Buffer* buffer) const {
  Arguments<PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args> get;
  get->buffer = buffer;
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin_, PJRT_Buffer_OpaqueDeviceMemoryDataPointer, get));
  return get->device_memory_ptr;
}

absl::StatusOr<Event> Client::Ready(PJRT_Buffer* buffer) const {
  Arguments<PJRT_Buffer_ReadyEvent_Args> get;
  get->buffer = buffer;
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin_, PJRT_Buffer_ReadyEvent, get));
  return Event(plugin_, get->event);
}

bool Client::IsDeleted(PJRT_Buffer* buffer) const {
  Arguments<PJRT_Buffer_IsDeleted_Args> get;
  get->buffer = buffer;
  return HPU_PJRT_CALL(plugin_, PJRT_Buffer_IsDeleted, get).ok() && get->is_deleted;
}

}  // namespace hpu::pjrt
