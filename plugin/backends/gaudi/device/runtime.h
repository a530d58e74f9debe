// Runtime: SynapseAI's library, initialised for this process.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_RUNTIME_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_RUNTIME_H_

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/backends/common/acquire_options.h"
#include "plugin/backends/common/liveness.h"
#include "plugin/backends/gaudi/synapse/library.h"

namespace hpu::gaudi {

// One per process and library. Must outlive the module that is acquired through it. Thread safe.
class Runtime {
 public:
  // Loads the library at `path` (synapse::Library::Open) and calls synInitialize.
  static absl::StatusOr<std::unique_ptr<Runtime>> Start(const std::string& path);
  // Calls synDestroy, except in a forked child.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // Aborted in a forked child, which must not call SynapseAI.
  absl::Status Check() const { return liveness_.Check(); }
  const synapse::Library& library() const { return *library_; }
  const synapse::Functions& functions() const { return library_->functions(); }

  // The modules of this machine. Unavailable if there is none.
  absl::StatusOr<common::Modules> GetModules() const;

  // The module that this process holds; -1 for none. SynapseAI allows one.
  int held_module() const { return held_module_.load(); }
  void set_held_module(int module_id) { held_module_.store(module_id); }

 private:
  explicit Runtime(std::unique_ptr<synapse::Library> library) : library_(std::move(library)) {}

  const common::Liveness liveness_;
  const std::unique_ptr<synapse::Library> library_;
  std::atomic<int> held_module_{-1};
};

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_RUNTIME_H_
