// Eager ops before their execution: reading, placement, and registration of a rewrite.
#ifndef HPU_PLUGIN_COMPAT_EAGER_OPS_H_
#define HPU_PLUGIN_COMPAT_EAGER_OPS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/tensor.h"

namespace tensorflow {
class EagerOperation;
}  // namespace tensorflow

namespace hpu {

// An op or function call that TensorFlow is about to execute. Borrows TensorFlow's object. Not thread safe.
class EagerOp {
 public:
  explicit EagerOp(tensorflow::EagerOperation* op) : op_(op) {}

  const std::string& name() const;  // of the op or function
  bool is_function() const;
  // The device type that the program requests; empty if none.
  absl::string_view device_type() const;
  // The op with its attributes, without inputs.
  const tensorflow::NodeDef& node() const;

  // The largest known rank of the inputs; 0 if no rank is known.
  int MaxInputRank() const;
  bool HasOnlyInt32Inputs() const;
  // The inputs of dtype variant in host memory. Waits until these inputs are ready.
  std::vector<const tensorflow::Tensor*> HostVariants() const;

  void PlaceOnCpu();

 private:
  tensorflow::EagerOperation* const op_;
};

// Registers a rewrite, which TensorFlow calls before it executes an op or function, after its own rewrites.
void RegisterEagerRewrite(const char* name, void (*rewrite)(EagerOp* op));

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPAT_EAGER_OPS_H_
