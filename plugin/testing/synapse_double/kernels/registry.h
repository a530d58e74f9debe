// Registry of kernels by the stem of their guid: the guid without its type suffix.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_REGISTRY_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_REGISTRY_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "plugin/testing/synapse_double/kernels/kernel.h"

namespace hpu::synapse_double {

// The types at the end of a guid: none, one (add_fwd_f32), or a cast's (cast_f32_to_i32).
enum class Suffix { kNone, kType, kCast };

// Number of operands or results of a kernel. Slots from `min` on may be empty.
struct Arity {
  size_t min;
  size_t max;
};

struct KernelEntry {
  std::string stem;
  Suffix suffix;
  Arity inputs;
  Arity outputs;
  std::vector<size_t> params_sizes;  // in bytes, of all versions; 0 if params may be null
  Kernel kernel;
};

// The parts of a guid.
struct KernelName {
  std::string stem;
  ElementType suffix;  // kNone if the guid has none
  ElementType source;  // of casts; else kNone
};
KernelName ParseGuid(const std::string& name);

class KernelRegistry {
 public:
  // The registry of all families.
  static const KernelRegistry& Get();

  void Add(KernelEntry entry);
  const std::map<std::string, KernelEntry>& entries() const { return entries_; }

 private:
  std::map<std::string, KernelEntry> entries_;  // by stem
};

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_REGISTRY_H_
