// Kernel: compiled code of ours that a recipe calls where XLA's own would be slower.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_KERNEL_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_KERNEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/backends/emulator/threads/compute_pool.h"

namespace hpu::emulator {

// What a recipe holds of a kernel that it calls.
struct KernelSpec {
  std::string name;
  std::vector<int64_t> parameters;  // shapes, windows and so on; the kernel's own file says which

  friend bool operator==(const KernelSpec& a, const KernelSpec& b) {
    return a.name == b.name && a.parameters == b.parameters;
  }
};

// One call. Arrays are dense and row-major, aligned as the recipe's buffers are; null where they have no bytes. Results
// share no memory with operands.
struct KernelCall {
  const void* const* operands;
  void* const* results;
  void* workspace;  // of the recipe's functions; other kernels have none
  ComputePool& pool;
};

class Kernel {
 public:
  virtual ~Kernel() = default;

  // How many arrays it makes: what KernelCall::results holds.
  virtual int results() const { return 1; }
  // Runs on the calling thread, which does not belong to the pool, and on the pool. What it computes depends on its
  // operands and the pool's number of threads alone. Thread safe.
  virtual absl::Status Run(const KernelCall& call) const = 0;
};

// Takes KernelSpec::parameters; InvalidArgument where they are not what the kernel takes.
using KernelFactory = absl::StatusOr<std::unique_ptr<const Kernel>> (*)(absl::Span<const int64_t> parameters);

// Called by static initialisers. Names are unique; a kernel whose parameters or results change takes a new one.
bool RegisterKernel(const char* name, KernelFactory factory);

// NotFound for a name that no kernel has. Thread safe.
absl::StatusOr<std::unique_ptr<const Kernel>> MakeKernel(const KernelSpec& spec);

// Which kernels there are: part of what recipes depend on.
std::string KernelNames();

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_KERNEL_H_
