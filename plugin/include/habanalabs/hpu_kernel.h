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

// Defines an op's kernel and its outputs. Each compilation of a signature creates a new functor.
struct BaseFunctor {
  virtual ~BaseFunctor() = default;
  virtual void DefineNode(HpuKernelContext* context) = 0;
};

// The kernel that TensorFlow runs. Compiles the op by itself if no cluster contains the op. Thread safe.
class HABANALABS_EXPORT HpuKernelBase : public tensorflow::OpKernel {
 public:
  explicit HpuKernelBase(tensorflow::OpKernelConstruction* construction);
  ~HpuKernelBase() override;
  void Compute(tensorflow::OpKernelContext* context) final;
  virtual void Define(HpuKernelContext* context) const = 0;

 private:
  std::unique_ptr<tensorflow::OpKernel> runner_;  // null in the compiler, which only calls Define()
};

template <class Functor>
class HpuKernel final : public HpuKernelBase {
 public:
  using HpuKernelBase::HpuKernelBase;
  void Define(HpuKernelContext* context) const override {
    Functor functor;
    // Through the base class, because DefineNode may be private in Functor.
    static_cast<BaseFunctor&>(functor).DefineNode(context);
  }
};

// Like tensorflow::KernelDefBuilder, for the HPU and its compiled clusters. REGISTER_OP must precede the registration,
// in the same file. Register int32 separately, because int32 inputs and outputs are in host memory. A TypeConstraint
// that lists int32 with other types is a fatal error.
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

  // Returns the kernel's definition, which the caller owns. Call once.
  const tensorflow::KernelDef* Build();

 private:
  std::unique_ptr<tensorflow::KernelDef> definition_;
};

inline HpuKernelDefBuilder ForHpuWithName(const char* op) { return HpuKernelDefBuilder(op); }

}  // namespace v1
}  // namespace habana

using habana::ForHpuWithName;  // NOLINT: programs use the name without a namespace

// REGISTER_KERNEL_BUILDER extracts the op's name with a macro named after the beginning of its first argument.
#define TF_EXTRACT_KERNEL_NAME_ForHpuWithName(name) name, ::habana::ForHpuWithName(name)

#endif  // HPU_PLUGIN_INCLUDE_HABANALABS_HPU_KERNEL_H_
