#include "plugin/backends/gaudi/synapse/library.h"

#include <dlfcn.h>

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/version/contact.h"

namespace hpu::synapse {
namespace {

// Functions that only one profile has. The other profile's function reveals a library that does not match its version.
constexpr char kOnly_1_5[] = "synStreamCreate";
constexpr char kOnly_1_18[] = "synStreamCreateGeneric";

// Looks up functions of a library, and collects the names of the missing ones.
class SymbolLookup {
 public:
  explicit SymbolLookup(void* library) : library_(library) {}

  template <typename Function>
  void Require(const char* name, Function* function) {
    Find(name, function);
    if (*function == nullptr) missing_.push_back(name);
  }

  template <typename Function>
  void Find(const char* name, Function* function) const {
    *function = reinterpret_cast<Function>(dlsym(library_, name));
  }

  bool Has(const char* name) const { return dlsym(library_, name) != nullptr; }

  const std::vector<std::string>& missing() const { return missing_; }

 private:
  void* const library_;
  std::vector<std::string> missing_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Library>> Library::Open(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat("cannot load SynapseAI from ", path, ": ", dlerror(),
                                                      "; install SynapseAI, or set HPU_BACKEND to another backend"));
  }
  std::unique_ptr<Library> library(new Library(path, handle));
  HPU_RETURN_IF_ERROR(library->Bind());
  return library;
}

Library::~Library() { dlclose(library_); }

absl::Status Library::Bind() {
  SymbolLookup symbols(library_);
  symbols.Find("synDriverGetVersion", &functions_.synDriverGetVersion);
  if (functions_.synDriverGetVersion == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat("cannot use ", path_,
                                                      " as SynapseAI: it does not export synDriverGetVersion; "
                                                      "set HPU_BACKEND=gaudi:/path/of/libSynapse.so"));
  }
  char version[256] = {};
  HPU_RETURN_IF_ERROR(HPU_SYNAPSE_CALL(functions_, synDriverGetVersion, (version, sizeof(version) - 1)));
  version_ = std::string(absl::StripAsciiWhitespace(version));
  HPU_ASSIGN_OR_RETURN(profile_, ProfileOfVersion(version_));
  const char* const foreign = profile_ == Profile::k1_5 ? kOnly_1_18 : kOnly_1_5;
  if (symbols.Has(foreign)) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot use SynapseAI ", version_, " from ", path_, ": it exports ", foreign,
                     ", a function of another release, so the struct layouts are uncertain; install one release of "
                     "SynapseAI and the driver"));
  }

#define HPU_REQUIRE(name, parameters) symbols.Require(#name, &table.name);
#define HPU_FIND(name, parameters) symbols.Find(#name, &table.name);
  {
    Functions& table = functions_;
    HPU_SYNAPSE_REQUIRED(HPU_REQUIRE)
    HPU_SYNAPSE_OPTIONAL(HPU_FIND)
  }
  if (profile_ == Profile::k1_5) {
    v1_5::Functions& table = functions_1_5_;
    HPU_SYNAPSE_PROFILE_REQUIRED(HPU_REQUIRE)
    HPU_SYNAPSE_PROFILE_OPTIONAL(HPU_FIND)
    HPU_SYNAPSE_1_5_REQUIRED(HPU_REQUIRE)
  } else {
    v1_18::Functions& table = functions_1_18_;
    HPU_SYNAPSE_PROFILE_REQUIRED(HPU_REQUIRE)
    HPU_SYNAPSE_PROFILE_OPTIONAL(HPU_FIND)
    HPU_SYNAPSE_1_18_REQUIRED(HPU_REQUIRE)
    HPU_SYNAPSE_1_18_OPTIONAL(HPU_FIND)
  }
#undef HPU_REQUIRE
#undef HPU_FIND

  if (symbols.missing().empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("cannot use SynapseAI ", version_, " from ", path_,
                                                    ": it does not export ", absl::StrJoin(symbols.missing(), ", "),
                                                    "; reinstall SynapseAI ", ProfileName(profile_)));
}

absl::StatusOr<DeviceInfo> Library::GetDeviceInfo(synDeviceId device) const {
  synDeviceInfo info = {};
  HPU_RETURN_IF_ERROR(HPU_SYNAPSE_CALL(functions_, synDeviceGetInfo, (device, &info), "device=", device));
  DeviceInfo result;
  HPU_ASSIGN_OR_RETURN(result.generation, ToGeneration(profile_, info.deviceType));
  result.sram_base_address = info.sramBaseAddress;
  result.sram_bytes = info.sramSize;
  result.dram_base_address = info.dramBaseAddress;
  result.dram_bytes = info.dramSize;
  result.tpc_enabled_mask = info.tpcEnabledMask;
  result.dram_enabled = info.dramEnabled != 0;
  return result;
}

absl::StatusOr<uint64_t> Library::GetDeviceAttribute(synDeviceId device, DeviceAttribute attribute) const {
  HPU_ASSIGN_OR_RETURN(const uint32_t number, ToDeviceAttribute(profile_, attribute));
  uint64_t value = 0;
  if (profile_ == Profile::k1_5) {
    const auto query = static_cast<v1_5::synDeviceAttribute>(number);
    HPU_RETURN_IF_ERROR(HPU_SYNAPSE_CALL(functions_1_5_, synDeviceGetAttribute, (&value, &query, 1, device),
                                         "attribute=", number, ", device=", device));
  } else {
    const auto query = static_cast<v1_18::synDeviceAttribute>(number);
    HPU_RETURN_IF_ERROR(HPU_SYNAPSE_CALL(functions_1_18_, synDeviceGetAttribute, (&value, &query, 1, device),
                                         "attribute=", number, ", device=", device));
  }
  return value;
}

absl::StatusOr<OwnedStream> Library::CreateStream(synDeviceId device, Engine engine) const {
  synStreamHandle stream = nullptr;
  if (profile_ == Profile::k1_5) {
    const v1_5::synStreamType type = ToStreamType(engine);
    HPU_RETURN_IF_ERROR(HPU_SYNAPSE_CALL(functions_1_5_, synStreamCreate, (&stream, device, type, 0), "device=", device,
                                         ", type=", static_cast<uint32_t>(type)));
  } else {
    HPU_RETURN_IF_ERROR(
        HPU_SYNAPSE_CALL(functions_1_18_, synStreamCreateGeneric, (&stream, device, 0), "device=", device));
  }
  return OwnedStream(&functions_, stream);
}

absl::StatusOr<OwnedGraph> Library::CreateGraph(Generation generation) const {
  HPU_ASSIGN_OR_RETURN(const uint32_t type, ToDeviceType(profile_, generation));
  synGraphHandle graph = nullptr;
  if (profile_ == Profile::k1_5) {
    HPU_RETURN_IF_ERROR(HPU_SYNAPSE_CALL(functions_1_5_, synGraphCreate,
                                         (&graph, static_cast<v1_5::synDeviceType>(type)),
                                         "device=", GenerationName(generation)));
  } else {
    HPU_RETURN_IF_ERROR(HPU_SYNAPSE_CALL(functions_1_18_, synGraphCreate,
                                         (&graph, static_cast<v1_18::synDeviceType>(type)),
                                         "device=", GenerationName(generation)));
  }
  return OwnedGraph(&functions_, graph);
}

absl::Status Library::SetGeometry(synTensor tensor, const std::string& name, Dimensions sizes) const {
  if (profile_ == Profile::k1_5) {
    HPU_ASSIGN_OR_RETURN(const v1_5::synTensorGeometry geometry, ToGeometry_1_5(sizes));
    return HPU_SYNAPSE_CALL(functions_1_5_, synTensorSetGeometry, (tensor, &geometry, synGeometryMaxSizes),
                            "tensor=", name, ", sizes={", absl::StrJoin(sizes, ","), "}");
  }
  HPU_ASSIGN_OR_RETURN(const v1_18::synTensorGeometry geometry, ToGeometry_1_18(sizes));
  return HPU_SYNAPSE_CALL(functions_1_18_, synTensorSetGeometry, (tensor, &geometry, synGeometryMaxSizes),
                          "tensor=", name, ", sizes={", absl::StrJoin(sizes, ","), "}");
}

absl::Status Library::SetElementType(synTensor tensor, const std::string& name, synDataType type) const {
  if (profile_ == Profile::k1_18) {
    return HPU_SYNAPSE_CALL(functions_1_18_, synTensorSetDeviceDataType, (tensor, type), "tensor=", name,
                            ", type=", static_cast<uint32_t>(type));
  }
  // The reference does not say what strides mean. Zeros leave the tensor dense.
  v1_5::synTensorDeviceFullLayout layout = {};
  layout.deviceDataType = type;
  return HPU_SYNAPSE_CALL(functions_1_5_, synTensorSetDeviceFullLayout, (tensor, &layout), "tensor=", name,
                          ", type=", static_cast<uint32_t>(type));
}

absl::Status Library::RetrieveIds(synRecipeHandle recipe, LaunchTable* table) const {
  if (profile_ == Profile::k1_5 || table->size() == 0) return absl::OkStatus();
  std::vector<const char*> names(table->size());
  for (size_t i = 0; i < names.size(); ++i) names[i] = table->name(i).c_str();
  std::vector<uint64_t> ids(names.size(), kInvalidTensorId);
  HPU_RETURN_IF_ERROR(HPU_SYNAPSE_CALL(functions_, synTensorRetrieveIds,
                                       (recipe, names.data(), ids.data(), static_cast<uint32_t>(ids.size())),
                                       "tensors=", ids.size()));
  for (size_t i = 0; i < ids.size(); ++i) {
    // A launch would skip the tensor without an error.
    if (ids[i] == kInvalidTensorId) {
      return absl::InternalError(absl::StrCat("synTensorRetrieveIds found no tensor ", names[i],
                                              ": the recipe has no persistent tensor of this name; recompile it"));
    }
    table->SetId(i, ids[i]);
  }
  return absl::OkStatus();
}

absl::Status Library::Launch(synStreamHandle stream, const LaunchTable& table, uint64_t workspace,
                             synRecipeHandle recipe) const {
  const uint32_t count = table.size();
  if (table.profile() != profile_) {
    return absl::InternalError(absl::StrCat("cannot launch with a table of SynapseAI ", ProfileName(table.profile()),
                                            ": the library has release ", version_, "; " HPU_REPORT_BUG));
  }
  if (profile_ == Profile::k1_5) {
    return HPU_SYNAPSE_CALL(functions_1_5_, synLaunch, (stream, table.entries_1_5(), count, workspace, recipe, 0),
                            "tensors=", count, ", workspace=", workspace);
  }
  return HPU_SYNAPSE_CALL(functions_1_18_, synLaunch, (stream, table.entries_1_18(), count, workspace, recipe, 0),
                          "tensors=", count, ", workspace=", workspace);
}

}  // namespace hpu::synapse
