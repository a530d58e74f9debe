// Search for registered kernels of ops and of the functions that they call.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_KERNEL_SEARCH_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_KERNEL_SEARCH_H_

#include <string>

#include "absl/container/flat_hash_set.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/kernel_def.pb.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {

// Returns the kernel registered for the op with its attributes, for this device type or for all devices; nullptr if
// there is none. Sets `class_name`, if given, to the kernel's C++ class. Thread safe. Faster than TensorFlow's
// FindKernelDef, which searches all registered kernels to describe a missing kernel.
const tensorflow::KernelDef* FindKernel(const std::string& device, const tensorflow::NodeDef& node,
                                        std::string* class_name = nullptr);

// Searches called functions recursively. Not thread safe. Create one object for each query.
class KernelSearch {
 public:
  // `or_lowering`: whether a lowering counts as a kernel. `library` must outlive this object.
  KernelSearch(const tensorflow::FunctionLibraryDefinition& library, bool or_lowering);

  // Whether the HPU can run the op with its attributes, and all functions that the op calls. Assumes that a function
  // with attributes can run, because its types are unknown.
  bool Finds(const tensorflow::NodeDef& node);

  // Whether the HPU can run all functions that the op calls. Ignores the op itself.
  bool FindsCallees(tensorflow::AttrSlice attrs);

 private:
  bool FindsIn(const std::string& function);
  bool HasKernel(const tensorflow::NodeDef& node) const;

  const tensorflow::FunctionLibraryDefinition& library_;
  const std::string compiler_;  // the compilation device; empty if lowerings are not searched
  absl::flat_hash_set<std::string> seen_;
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_KERNEL_SEARCH_H_
