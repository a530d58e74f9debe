// Constants in place of values that loops push onto TensorLists for their gradients.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_LIST_VALUES_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_LIST_VALUES_H_

#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "plugin/compat/tf_2_15/function_bodies.h"
#include "plugin/passes/analysis/known_numbers.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// The gradient of a loop needs the length and element shape of each list that the loop reads. TensorFlow pushes the
// length and the shape in each iteration, but the compiler requires constants. If the list comes from a tensor of known
// shape, this class puts constants into the body of the gradient's loop. Not thread safe.
class ListValues {
 public:
  // Records the value that the loop pushes onto loop value `index`, if the value is known, for all loops that receive
  // the list. The list starts empty and grows by one element in each iteration.
  void Add(const tensorflow::Node& loop, const tensorflow::FunctionBody& body, int index, KnownNumbers* known);
  // Replaces the body of each loop that pops known values by a body with constants. Adds the new bodies to the library.
  absl::Status Replace(tensorflow::FunctionLibraryDefinition* library);

 private:
  // Loops that receive lists of known values, in the order of discovery. Each map: from the list's loop value index to
  // the value of all elements of the list.
  std::vector<std::pair<tensorflow::Node*, std::map<int, tensorflow::Tensor>>> popped_;
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_LIST_VALUES_H_
