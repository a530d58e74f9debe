// Kernel: a function that recipes call (a replacement for slower XLA code, a user kernel or an outlined function).
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

// The part of a recipe that describes a kernel.
struct KernelSpec {
  std::string name;
  std::vector<int64_t> parameters;  // shapes, windows and so on; the kernel's header defines them

  friend bool operator==(const KernelSpec& a, const KernelSpec& b) {
    return a.name == b.name && a.parameters == b.parameters;
  }
};

// One call. Arrays are dense, row-major and aligned like the recipe's buffers; null for 0 bytes. Results share no
// memory with operands, except in outlined functions.
struct KernelCall {
  const void* const* operands;
  void* const* results;
  void* workspace;  // for outlined functions only
  ComputePool& pool;
};

class Kernel {
 public:
  virtual ~Kernel() = default;

  // Number of result arrays in KernelCall::results.
  virtual int results() const { return 1; }
  // Runs on the pool and on the calling thread, which does not belong to the pool. The results depend only on the
  // operands and the pool's number of threads. Thread safe.
  virtual absl::Status Run(const KernelCall& call) const = 0;
};

// Makes a kernel from KernelSpec::parameters; fails if the kernel does not support the parameters.
using KernelFactory = absl::StatusOr<std::unique_ptr<const Kernel>> (*)(absl::Span<const int64_t> parameters);

// Called by static initialisers. Names are unique; a kernel whose parameters or results change must get a new name.
bool RegisterKernel(const char* name, KernelFactory factory);

// NotFound if no kernel has the name. An error of the factory gets the kernel's name and parameters. Thread safe.
absl::StatusOr<std::unique_ptr<const Kernel>> MakeKernel(const KernelSpec& spec);

// Names of all kernels, separated by spaces; part of CompilerTarget().
std::string KernelNames();

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_KERNEL_H_
