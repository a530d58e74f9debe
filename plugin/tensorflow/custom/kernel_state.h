// State of one call of a custom op's functor: inputs, defined outputs and the defined node.
#ifndef HPU_PLUGIN_TENSORFLOW_CUSTOM_KERNEL_STATE_H_
#define HPU_PLUGIN_TENSORFLOW_CUSTOM_KERNEL_STATE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "plugin/include/habanalabs/hpu_kernel_context.h"

namespace habana {
inline namespace v1 {

// Lives on the stack of the thread that calls the functor.
struct HpuKernelContext::State {
  struct Node {
    std::string guid;
    std::string params;
    std::string name;
    std::vector<int> inputs;  // indices of the op's inputs
    std::vector<int> outputs;
  };

  const tensorflow::NodeDef* definition = nullptr;
  std::vector<TensorInfo> inputs;
  std::vector<tensorflow::DataType> output_types;
  std::vector<std::optional<TensorInfo>> outputs;  // one for each of output_types; empty until defined
  std::optional<Node> node;
  tensorflow::Status status;

  // Prefix of error texts: "CustomDivOp node 'div': ".
  std::string Prefix() const;
  // Returns the functor's error, or an error if the functor defined no node or the node does not compute every output.
  absl::Status Finish() const;
};

}  // namespace v1
}  // namespace habana

#endif  // HPU_PLUGIN_TENSORFLOW_CUSTOM_KERNEL_STATE_H_
