// HpuKernelContext: the interface of a custom op's functor to its node (docs/user/custom_ops.md).
#ifndef HPU_PLUGIN_INCLUDE_HABANALABS_HPU_KERNEL_CONTEXT_H_
#define HPU_PLUGIN_INCLUDE_HABANALABS_HPU_KERNEL_CONTEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/status.h"

#define HABANALABS_EXPORT __attribute__((visibility("default")))

namespace habana {
// The version of this interface is part of every symbol's name. An op built for another version does not load.
inline namespace v1 {

// Type and shape of a tensor during compilation. The shape is fully defined, even if the graph's shape is not.
struct TensorInfo {
  tensorflow::DataType dtype = tensorflow::DT_INVALID;
  tensorflow::TensorShape shape;
};

// A node of the device's graph: its kernel and the kernel's parameters.
struct NodeDesc {
  std::string guid;                   // "div_fwd_f32"
  const void* user_params = nullptr;  // the kernel's own struct, copied by DefineNode
  size_t params_size = 0;             // bytes
  std::string name;                   // for messages; empty: the op's name
};

// Valid only during a functor's DefineNode, and only on that thread.
class HABANALABS_EXPORT HpuKernelContext {
 public:
  struct State;
  explicit HpuKernelContext(State* state) : state_(state) {}  // for the plugin
  HpuKernelContext(const HpuKernelContext&) = delete;
  HpuKernelContext& operator=(const HpuKernelContext&) = delete;

  int num_inputs() const;
  int num_outputs() const;

  // OutOfRange for an index that the op does not have.
  tensorflow::Status InputInfo(int index, TensorInfo& info) const;

  // Declares the type and shape of an output, before DefineNode. InvalidArgument for a type other than the op's output
  // type, or for an output that is already defined.
  tensorflow::Status DefineOutputInfo(int index, TensorInfo info);

  // Computes `outputs` from `inputs`: indices of the op's ports, in the order of the kernel's arguments. Called once.
  // FailedPrecondition names an output without DefineOutputInfo.
  tensorflow::Status DefineNode(NodeDesc desc, std::vector<int> inputs, std::vector<int> outputs);

  template <class T>
  tensorflow::Status GetAttr(absl::string_view name, T* value) const {
    return tensorflow::GetNodeAttr(tensorflow::AttrSlice(node()), name, value);
  }
  const tensorflow::NodeDef& node() const;

  // Sets the op's status. Only the first error is kept.
  void SetStatus(const tensorflow::Status& status);
  const tensorflow::Status& status() const;

  // Called by OP_REQUIRES and OP_REQUIRES_OK.
  void CtxFailure(const char* file, int line, const tensorflow::Status& status);
  void CtxFailureWithWarning(const char* file, int line, const tensorflow::Status& status);

 private:
  State* const state_;
};

// OP_REQUIRES selects this overload by its argument.
inline void CheckNotInComputeAsync(HpuKernelContext*, const char*) {}

}  // namespace v1
}  // namespace habana

#endif  // HPU_PLUGIN_INCLUDE_HABANALABS_HPU_KERNEL_CONTEXT_H_
