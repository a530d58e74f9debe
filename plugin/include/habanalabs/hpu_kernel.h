// Custom ops for the HPU:
//
//   struct CustomDiv : habana::BaseFunctor {
//     void DefineNode(habana::HpuKernelContext* context) override;
//   };
//   REGISTER_KERNEL_BUILDER(ForHpuWithName("CustomDivOp").TypeConstraint<float>("T"), habana::HpuKernel<CustomDiv>);
//
// Build with the flags of habana_frameworks.tensorflow.sysconfig and of tf.sysconfig: docs/user/custom_ops.md.
#ifndef HPU_PLUGIN_INCLUDE_HABANALABS_HPU_KERNEL_H_
#define HPU_PLUGIN_INCLUDE_HABANALABS_HPU_KERNEL_H_

#include <memory>
#include <string>

#include "habanalabs/hpu_kernel_context.h"
#include "tensorflow/core/framework/kernel_def.pb.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace habana {
inline namespace v1 {

// Says which kernel an op runs and what its outputs are. A new one is made for each compile of a signature.
struct BaseFunctor {
  virtual ~BaseFunctor() = default;
  virtual void DefineNode(HpuKernelContext* context) = 0;
};

// What TensorFlow runs: compiles the op by itself where no cluster took it. Thread safe.
class HABANALABS_EXPORT HpuKernelBase : public tensorflow::OpKernel {
 public:
  explicit HpuKernelBase(tensorflow::OpKernelConstruction* construction);
  ~HpuKernelBase() override;
  void Compute(tensorflow::OpKernelContext* context) final;
  virtual void Define(HpuKernelContext* context) const = 0;

 private:
  std::unique_ptr<tensorflow::OpKernel> runner_;  // null in the compiler, which only asks for Define()
};

template <class Functor>
class HpuKernel final : public HpuKernelBase {
 public:
  using HpuKernelBase::HpuKernelBase;
  void Define(HpuKernelContext* context) const override {
    Functor functor;
    static_cast<BaseFunctor&>(functor).DefineNode(context);  // which may be private in a class
  }
};

// As tensorflow::KernelDefBuilder, for the HPU and for clusters that are compiled for it. REGISTER_OP comes before, in
// the same file. int32 lives in host memory where it crosses an op's border, so that it wants a registration of its
// own: in a list of types it is an error.
class HABANALABS_EXPORT HpuKernelDefBuilder {
 public:
  explicit HpuKernelDefBuilder(const char* op);
  HpuKernelDefBuilder(HpuKernelDefBuilder&&) noexcept;
  ~HpuKernelDefBuilder();

  HpuKernelDefBuilder& TypeConstraint(const char* attribute, tensorflow::DataType allowed);
  HpuKernelDefBuilder& TypeConstraint(const char* attribute, tensorflow::gtl::ArraySlice<tensorflow::DataType> allowed);
  template <class T>
  HpuKernelDefBuilder& TypeConstraint(const char* attribute) {
    return TypeConstraint(attribute, tensorflow::DataTypeToEnum<T>::v());
  }
  HpuKernelDefBuilder& HostMemory(const char* argument);
  HpuKernelDefBuilder& Priority(int32_t priority);

  // The caller owns it. Called once.
  const tensorflow::KernelDef* Build();

 private:
  std::unique_ptr<tensorflow::KernelDef> definition_;
};

inline HpuKernelDefBuilder ForHpuWithName(const char* op) { return HpuKernelDefBuilder(op); }

}  // namespace v1
}  // namespace habana

using habana::ForHpuWithName;  // NOLINT: programs write it without a namespace

// REGISTER_KERNEL_BUILDER takes the op's name out of what its first argument begins with.
#define TF_EXTRACT_KERNEL_NAME_ForHpuWithName(name) name, ::habana::ForHpuWithName(name)

#endif  // HPU_PLUGIN_INCLUDE_HABANALABS_HPU_KERNEL_H_
