// Library: SynapseAI's shared library, loaded at run time, and the calls that differ between its ABI profiles.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_LIBRARY_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_LIBRARY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/backends/gaudi/synapse/functions.h"
#include "plugin/backends/gaudi/synapse/handles.h"
#include "plugin/backends/gaudi/synapse/launch_table.h"
#include "plugin/backends/gaudi/synapse/profile.h"
#include "plugin/backends/gaudi/synapse/status.h"

namespace hpu::synapse {

inline constexpr char kDefaultLibrary[] = "libSynapse.so";

struct DeviceInfo {
  Generation generation = Generation::kGaudi;
  uint64_t sram_base_address = 0;
  uint64_t sram_bytes = 0;
  uint64_t dram_base_address = 0;
  uint64_t dram_bytes = 0;
  uint64_t tpc_enabled_mask = 0;
  bool dram_enabled = false;
};

// Thread safe. Objects that it creates must not outlive it.
class Library {
 public:
  // Loads the library at `path`, which may be a name for the dynamic linker, and selects the profile of its release.
  // Does not call synInitialize. FailedPrecondition if the library cannot be loaded, its release is unknown, a required
  // function is missing, or its functions belong to another release.
  static absl::StatusOr<std::unique_ptr<Library>> Open(const std::string& path = kDefaultLibrary);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const std::string& path() const { return path_; }
  // Text of synDriverGetVersion.
  const std::string& version() const { return version_; }
  Profile profile() const { return profile_; }

  // For HPU_SYNAPSE_CALL. The functions of other profiles are null.
  const Functions& functions() const { return functions_; }
  const v1_5::Functions& functions_1_5() const { return functions_1_5_; }
  const v1_18::Functions& functions_1_18() const { return functions_1_18_; }

  absl::StatusOr<DeviceInfo> GetDeviceInfo(synDeviceId device) const;
  absl::StatusOr<uint64_t> GetDeviceAttribute(synDeviceId device, DeviceAttribute attribute) const;
  absl::StatusOr<OwnedStream> CreateStream(synDeviceId device, Engine engine) const;
  absl::StatusOr<OwnedGraph> CreateGraph(Generation generation) const;

  // `name` is for messages only.
  absl::Status SetGeometry(synTensor tensor, const std::string& name, Dimensions sizes) const;
  absl::Status SetElementType(synTensor tensor, const std::string& name, synDataType type) const;

  // Sets the table's tensor ids for a recipe. Every deserialised recipe has new ids. Does nothing in 1.5.
  absl::Status RetrieveIds(synRecipeHandle recipe, LaunchTable* table) const;
  absl::Status Launch(synStreamHandle stream, const LaunchTable& table, uint64_t workspace,
                      synRecipeHandle recipe) const;

 private:
  Library(std::string path, void* library) : path_(std::move(path)), library_(library) {}

  absl::Status Bind();

  const std::string path_;
  void* const library_;  // of dlopen
  std::string version_;
  Profile profile_ = Profile::k1_18;
  Functions functions_;
  v1_5::Functions functions_1_5_;
  v1_18::Functions functions_1_18_;
};

}  // namespace hpu::synapse

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_LIBRARY_H_
