// SizedLowering: base class of lowerings for computed sizes, beside tf2xla's lowerings for known sizes.
#ifndef HPU_PLUGIN_COMPILER_LOWERINGS_SIZED_LOWERING_H_
#define HPU_PLUGIN_COMPILER_LOWERINGS_SIZED_LOWERING_H_

#include <memory>
#include <utility>

#include "plugin/compiler/make_lowering.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"

namespace hpu {

class SizedLowering : public tensorflow::XlaOpKernel {
 public:
  explicit SizedLowering(tensorflow::OpKernelConstruction* construction) : XlaOpKernel(construction) {
    auto lowering = MakeLowering(construction, tensorflow::DEVICE_CPU_XLA_JIT);
    OP_REQUIRES_OK(construction, lowering.status());
    lowering_ = *std::move(lowering);
  }

 protected:
  // tf2xla's lowering.
  tensorflow::OpKernel& lowering() { return *lowering_; }

 private:
  std::unique_ptr<tensorflow::OpKernel> lowering_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_LOWERINGS_SIZED_LOWERING_H_
