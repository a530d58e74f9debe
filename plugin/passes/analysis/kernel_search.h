// Whether the HPU can run ops, and the functions that they call.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_KERNEL_SEARCH_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_KERNEL_SEARCH_H_

#include <string>

#include "absl/container/flat_hash_set.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {

// Looks into functions, and into those that they call. Not thread safe; for one question.
class KernelSearch {
 public:
  // `or_lowering`: whether a lowering counts as well as a kernel. `library` outlives this.
  KernelSearch(const tensorflow::FunctionLibraryDefinition& library, bool or_lowering);

  // Whether the HPU runs an op with these attributes and all that it calls. Functions with attributes of their own
  // count as such: their types are not known here.
  bool Finds(const tensorflow::NodeDef& node);

  // The same without the op itself.
  bool FindsCallees(tensorflow::AttrSlice attrs);

 private:
  bool FindsIn(const std::string& function);
  bool HasKernel(const tensorflow::NodeDef& node) const;

  const tensorflow::FunctionLibraryDefinition& library_;
  const std::string compiler_;  // the device for compilation; empty if lowerings do not count
  absl::flat_hash_set<std::string> seen_;
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_KERNEL_SEARCH_H_
