// Constants in place of values that loops push onto TensorLists for their gradients.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_LIST_VALUES_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_LIST_VALUES_H_

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "plugin/compat/function_bodies.h"
#include "plugin/passes/analysis/known_numbers.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// The gradient of a loop needs the length and element shape of each list that the loop reads. TensorFlow pushes the
// length and the shape in each iteration, but the compiler requires constants. If the list comes from a tensor of known
// shape, this class puts constants into the body of the gradient's loop. In place of an unknown length, it puts the
// length of the list to which the body adds the gradient. If the loop writes elements of the list, which keeps its
// length, the class removes TensorListResize from the gradient. Not thread safe.
class ListValues {
 public:
  // Records the length or shape that the loop pushes onto loop value `index`, for all loops that receive the list. The
  // list starts empty and grows by one element in each iteration.
  void Add(const tensorflow::Node& loop, const tensorflow::FunctionBody& body, int index, KnownNumbers* known);
  // Replaces the body of each loop that pops such values by a body without them. Adds the new bodies to the library.
  absl::Status Replace(tensorflow::FunctionLibraryDefinition* library);

 private:
  // The elements of a list of lengths or shapes.
  struct Popped {
    std::optional<tensorflow::Tensor> value;  // of all elements; nullopt for an unknown length
    bool keeps_length = false;                // the length of a list that the loop never extends
  };

  // Loops that receive the lists, in the order of discovery. Each map: from the list's loop value index to its
  // elements.
  std::vector<std::pair<tensorflow::Node*, std::map<int, Popped>>> popped_;
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_LIST_VALUES_H_
