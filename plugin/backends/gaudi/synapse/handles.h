// Owning handles of SynapseAI's objects.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_HANDLES_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_HANDLES_H_

#include <utility>

#include "plugin/backends/gaudi/synapse/functions.h"
#include "plugin/backends/gaudi/synapse/types.h"

namespace hpu::synapse {

// Owns a handle; borrows the function table. The destructor ignores errors of the destroying function.
template <typename Handle, synStatus (*Functions::*kDestroy)(Handle)>
class Owned {
 public:
  Owned() = default;
  Owned(const Functions* functions, Handle handle) : functions_(functions), handle_(handle) {}
  Owned(Owned&& other) noexcept : functions_(other.functions_), handle_(other.release()) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(functions_, other.functions_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_ != nullptr) (functions_->*kDestroy)(handle_);
  }

  Handle get() const { return handle_; }
  // Gives up ownership.
  Handle release() { return std::exchange(handle_, nullptr); }

 private:
  const Functions* functions_ = nullptr;
  Handle handle_ = nullptr;
};

using OwnedStream = Owned<synStreamHandle, &Functions::synStreamDestroy>;
using OwnedEvent = Owned<synEventHandle, &Functions::synEventDestroy>;
// Also owns the graph's tensors, sections and nodes.
using OwnedGraph = Owned<synGraphHandle, &Functions::synGraphDestroy>;
using OwnedRecipe = Owned<synRecipeHandle, &Functions::synRecipeDestroy>;

}  // namespace hpu::synapse

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_HANDLES_H_
