#include "plugin/backends/pjrt/client/plugin.h"

#include <dlfcn.h>
#include <unistd.h>

#include <mutex>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/backends/pjrt/client/hidden_xla_flags.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/status_payloads.h"

namespace hpu::pjrt {
namespace {

std::string VersionText(const PJRT_Api_Version& version) {
  return absl::StrCat(version.major_version, ".", version.minor_version);
}

}  // namespace

std::string ToString(const PJRT_NamedValue& value) {
  switch (value.type) {
    case PJRT_NamedValue_kString:
      return std::string(value.string_value, value.value_size);
    case PJRT_NamedValue_kInt64:
      return absl::StrCat(value.int64_value);
    case PJRT_NamedValue_kInt64List:
      return absl::StrJoin(value.int64_array_value, value.int64_array_value + value.value_size, ",");
    case PJRT_NamedValue_kFloat:
      return absl::StrCat(value.float_value);
    case PJRT_NamedValue_kBool:
      return value.bool_value ? "true" : "false";
  }
  return "";
}

absl::StatusOr<const Plugin*> Plugin::Load(const std::string& path) {
  static auto* mutex = new std::mutex;
  static auto* loaded = new std::map<std::string, const Plugin*>;
  std::lock_guard<std::mutex> lock(*mutex);
  if (const auto found = loaded->find(path); found != loaded->end()) return found->second;
  if (access(path.c_str(), R_OK) != 0) {
    return absl::NotFoundError(
        absl::StrCat("cannot read the PJRT plugin ", path, ": ", strerror(errno), "; correct HPU_BACKEND"));
  }
  const HiddenXlaFlags hidden;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot load the PJRT plugin ", path, ": ", dlerror(),
                     "; install the missing library, or set HPU_BACKEND to another plugin"));
  }
  using GetApi = const PJRT_Api* (*)();
  const auto get_api = reinterpret_cast<GetApi>(dlsym(library, "GetPjrtApi"));
  if (get_api == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is not a PJRT plugin: it does not export GetPjrtApi; set HPU_BACKEND to another plugin"));
  }
  HPU_ASSIGN_OR_RETURN(const Plugin* plugin, Of(path, get_api()));
  loaded->emplace(path, plugin);
  return plugin;
}

absl::StatusOr<const Plugin*> Plugin::Of(const std::string& name, const PJRT_Api* api) {
  if (api == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the PJRT plugin ", name, " returned no function table from GetPjrtApi; install another plugin release"));
  }
  const PJRT_Api_Version& version = api->pjrt_api_version;
  if (version.major_version != PJRT_API_MAJOR || version.minor_version < kMinMinorVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the PJRT plugin ", name, " has version ", VersionText(version), " of the PJRT C API; expected ",
        PJRT_API_MAJOR, ".", kMinMinorVersion, " or a later ", PJRT_API_MAJOR, ".x: install another plugin release"));
  }
  std::unique_ptr<Plugin> plugin(new Plugin(name, api));
  HPU_RETURN_IF_ERROR(plugin->Initialize());
  return plugin.release();
}

absl::Status Plugin::Initialize() {
  if (Has(&PJRT_Api::PJRT_Plugin_Initialize)) {
    Arguments<PJRT_Plugin_Initialize_Args> initialize;
    HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(*this, PJRT_Plugin_Initialize, initialize));
  }
  Arguments<PJRT_Plugin_Attributes_Args> get;
  if (HPU_PJRT_CALL(*this, PJRT_Plugin_Attributes, get).ok()) {
    for (size_t i = 0; i < get->num_attributes; ++i) {
      const PJRT_NamedValue& attribute = get->attributes[i];
      attributes_.emplace(std::string(attribute.name, attribute.name_size), ToString(attribute));
    }
  }
  return absl::OkStatus();
}

std::string Plugin::version() const { return VersionText(api_->pjrt_api_version); }

absl::Status Plugin::ConsumeError(PJRT_Error* error) const {
  Arguments<PJRT_Error_Message_Args> message;
  message->error = error;
  api_->PJRT_Error_Message(&message.args);
  std::string text(message->message, message->message_size);
  Arguments<PJRT_Error_GetCode_Args> get;
  get->error = error;
  // PJRT_Error_Code has the values of absl::StatusCode.
  absl::StatusCode code = absl::StatusCode::kInternal;
  if (PJRT_Error* nested = api_->PJRT_Error_GetCode(&get.args); nested == nullptr) {
    code = static_cast<absl::StatusCode>(get->code);
  } else {
    Arguments<PJRT_Error_Destroy_Args> destroy;
    destroy->error = nested;
    api_->PJRT_Error_Destroy(&destroy.args);
  }
  Arguments<PJRT_Error_Destroy_Args> destroy;
  destroy->error = error;
  api_->PJRT_Error_Destroy(&destroy.args);
  return absl::Status(code, text);
}

absl::Status Plugin::Missing(const char* name) const {
  return absl::UnimplementedError(absl::StrCat("the PJRT plugin ", path_, " (version ", version(),
                                               " of the PJRT C API) does not implement ", name,
                                               "; install another plugin release"));
}

absl::Status Plugin::Named(const char* name, const absl::Status& status) const {
  std::string text = absl::StrCat(name, ": ", status.message());
  if (absl::StrContains(status.message(), "size")) {
    absl::StrAppend(&text, " (the plugin has version ", version(), " of the PJRT C API, this build ", PJRT_API_MAJOR,
                    ".", PJRT_API_MINOR, ")");
  }
  return Reworded(status, text);
}

bool Plugin::Lengthen(const absl::Status& status, size_t capacity, size_t* struct_size) {
  // XLA: "Unexpected PJRT_…_Args size: expected 112, got 96. …"
  constexpr absl::string_view kExpected = "size: expected ";
  const absl::string_view text = status.message();
  const size_t found = text.find(kExpected);
  if (!absl::IsInvalidArgument(status) || found == absl::string_view::npos) return false;
  absl::string_view digits = text.substr(found + kExpected.size());
  digits = digits.substr(0, std::min(digits.size(), digits.find_first_not_of("0123456789")));
  uint64_t expected = 0;
  if (!absl::SimpleAtoi(digits, &expected) || expected <= *struct_size || expected > capacity) return false;
  *struct_size = expected;
  return true;
}

}  // namespace hpu::pjrt
