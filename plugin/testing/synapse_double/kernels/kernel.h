// Kernels of the Synapse double: their type, arguments, status and KernelContext, which checks arguments.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_KERNEL_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_KERNEL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "plugin/testing/synapse_double/kernels/tensor_view.h"

namespace hpu::synapse_double {

// Behaviour that a card may or may not have.
struct KernelSwitches {
  bool flush_denormals = false;      // products take and return 0 for denormal numbers
  bool lose_nan_in_max_min = false;  // max and min return the operand that is not NaN
  uint64_t seed = 0;                 // mixed into random numbers
  uint64_t order = 0;                // seed that shuffles the updates of scatters; 0: not shuffled
};

struct KernelArguments {
  std::vector<TensorView> inputs;  // optional ones may be empty slots
  std::vector<TensorView> outputs;
  const void* params = nullptr;
  size_t params_size = 0;
  KernelSwitches switches;
};

// Success, or the reason of a failure.
class KernelStatus {
 public:
  static KernelStatus Ok() { return {}; }
  static KernelStatus Error(std::string text) {
    KernelStatus status;
    status.text_ = std::move(text);
    return status;
  }

  bool ok() const { return text_.empty(); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The arguments of one run of a kernel, and its first failure.
class KernelContext {
 public:
  explicit KernelContext(const KernelArguments& arguments, ElementType suffix = ElementType::kNone)
      : arguments_(arguments), suffix_(suffix) {}

  // Type that the guid's suffix names; kNone for guids without one.
  ElementType suffix() const { return suffix_; }
  size_t input_count() const { return arguments_.inputs.size(); }
  size_t output_count() const { return arguments_.outputs.size(); }
  bool has_input(size_t i) const { return i < input_count() && arguments_.inputs[i].is_present(); }
  bool has_output(size_t i) const { return i < output_count() && arguments_.outputs[i].is_present(); }
  const TensorView& input(size_t i) const { return arguments_.inputs[i]; }
  const TensorView& output(size_t i) const { return arguments_.outputs[i]; }
  const KernelSwitches& switches() const { return arguments_.switches; }

  bool has_params() const { return arguments_.params_size > 0; }
  size_t params_size() const { return arguments_.params_size; }
  // The params, with the values of `defaults` for the fields that a shorter version lacks.
  template <typename Params>
  Params params(Params defaults = {}) const {
    static_assert(std::is_trivially_copyable_v<Params>);
    if (has_params()) std::memcpy(&defaults, arguments_.params, std::min(sizeof(Params), arguments_.params_size));
    return defaults;
  }

  // Records a failure, with the parts joined as its text, unless `condition` is true. Returns `condition`.
  template <typename... Parts>
  bool Require(bool condition, const Parts&... parts) {
    if (condition || !status_.ok()) return condition;
    std::ostringstream text;
    (text << ... << parts);
    status_ = KernelStatus::Error(text.str());
    return false;
  }
  // Requires the sizes of an operand or result.
  bool RequireSizes(const TensorView& view, const Sizes& expected, const char* name) {
    return Require(view.sizes == expected, name, ": expected sizes ", TextOf(expected), ", found ", TextOf(view.sizes));
  }
  const KernelStatus& status() const { return status_; }

 private:
  const KernelArguments& arguments_;
  ElementType suffix_;
  KernelStatus status_;
};

using Kernel = void (*)(KernelContext&);

// Runs the kernel of `guid`. A failure poisons all outputs.
KernelStatus RunKernel(const std::string& guid, const KernelArguments& arguments);

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_KERNEL_H_
