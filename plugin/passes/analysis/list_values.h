// Values that loops keep for their gradients though the graph knows them.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_LIST_VALUES_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_LIST_VALUES_H_

#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "plugin/passes/analysis/known_numbers.h"
#include "tensorflow/core/common_runtime/function_body.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// A gradient needs the length and the element shape of lists that its loop reads; TensorFlow has the loop push them in
// each turn. The compiler must know them: where the list comes from a tensor whose shape is known, the gradient's loop
// gets them as constants. Not thread safe.
class ListValues {
 public:
  // Looks at value `index` of a loop: a list that begins empty and that each turn pushes one element onto.
  void Add(const tensorflow::Node& loop, const tensorflow::FunctionBody& body, int index, KnownNumbers* known);
  // Gives loops that pop what is known a body with constants instead, and adds that to the library.
  absl::Status Replace(tensorflow::FunctionLibraryDefinition* library);

 private:
  // By loop, in the order in which they were found: which of its values is a list of equal elements, and the element.
  std::vector<std::pair<tensorflow::Node*, std::map<int, tensorflow::Tensor>>> popped_;
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_LIST_VALUES_H_
