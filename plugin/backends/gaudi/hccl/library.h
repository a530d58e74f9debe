// Library: HCCL's shared library, loaded at run time.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_HCCL_LIBRARY_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_HCCL_LIBRARY_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "plugin/backends/gaudi/hccl/functions.h"

namespace hpu::hccl {

inline constexpr char kLibraryName[] = "libhcl.so";

// Thread safe. Communicators must not outlive it.
class Library {
 public:
  // Loads libhcl.so. `synapse_path`: file or name of SynapseAI's library. Uses the libhcl.so in the folder of this
  // file; if there is none, the dynamic linker searches for libhcl.so. Unimplemented if the library cannot be loaded or
  // lacks a required function: the device then has no collective operations.
  static absl::StatusOr<std::unique_ptr<Library>> Open(const std::string& synapse_path);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const std::string& path() const { return path_; }
  // For HPU_HCCL_CALL.
  const Functions& functions() const { return functions_; }

 private:
  Library(std::string path, void* library) : path_(std::move(path)), library_(library) {}

  absl::Status Bind();

  const std::string path_;
  void* const library_;  // of dlopen
  Functions functions_;
};

}  // namespace hpu::hccl

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_HCCL_LIBRARY_H_
