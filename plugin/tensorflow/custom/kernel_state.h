// State of a custom op's functor: the node that it defines.
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
    std::vector<int> inputs;  // ports of the op
    std::vector<int> outputs;
  };

  const tensorflow::NodeDef* definition = nullptr;
  std::vector<TensorInfo> inputs;
  std::vector<tensorflow::DataType> output_types;
  std::vector<std::optional<TensorInfo>> outputs;  // as many as output_types
  std::optional<Node> node;
  tensorflow::Status status;

  // "CustomDivOp node 'div': "
  std::string Prefix() const;
  // The functor's error, or an error for a missing definition.
  absl::Status Finish() const;
};

}  // namespace v1
}  // namespace habana

#endif  // HPU_PLUGIN_TENSORFLOW_CUSTOM_KERNEL_STATE_H_
