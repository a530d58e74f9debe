#include "plugin/tensorflow/custom/lowering_kernel.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugin/base/containment/contained_call.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/status_payloads.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/include/habanalabs/hpu_kernel.h"
#include "plugin/tensorflow/custom/hlo_kernels.h"
#include "plugin/tensorflow/custom/kernel_state.h"
#include "plugin/tensorflow/device/hpu_device.h"
#include "tensorflow/compiler/tf2xla/shape_util.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/node_properties.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {
namespace {

// Lowering of a custom op: calls the functor of the op's HPU kernel and adds the node that the functor defines.
class LoweringKernel : public tensorflow::XlaOpKernel {
 public:
  explicit LoweringKernel(tensorflow::OpKernelConstruction* construction)
      : XlaOpKernel(construction), activity_(tensorflow::FormatNodeDefForError(construction->def())) {
    OP_REQUIRES_OK(construction, FindFunctor(construction));
  }

  void Compile(tensorflow::XlaOpKernelContext* context) override {
    const containment::ActivityScope scope(activity_);
    OP_REQUIRES_OK(context, Lower(context));
  }

 private:
  absl::Status FindFunctor(tensorflow::OpKernelConstruction* construction) {
    std::shared_ptr<const tensorflow::NodeProperties> properties;
    HPU_RETURN_IF_ERROR(tensorflow::NodeProperties::CreateFromNodeDef(construction->def(),
                                                                      tensorflow::OpRegistry::Global(), &properties));
    tensorflow::OpKernel* kernel = nullptr;
    HPU_RETURN_IF_ERROR(tensorflow::CreateOpKernel(tensorflow::DeviceType(kDeviceType), construction->device(),
                                                   construction->device()->GetAllocator({}),
                                                   construction->function_library(), construction->resource_manager(),
                                                   properties, construction->graph_def_version(), &kernel));
    kernel_.reset(kernel);
    functor_ = dynamic_cast<const habana::HpuKernelBase*>(kernel);
    return functor_ != nullptr
               ? absl::OkStatus()
               : absl::InternalError(
                     construction->def().op() +
                     ": the HPU kernel is not a habana::HpuKernel; register a class derived from habana::HpuKernel");
  }

  absl::Status Lower(tensorflow::XlaOpKernelContext* context) const {
    habana::HpuKernelContext::State state;
    state.definition = &def();
    for (int i = 0; i < context->num_inputs(); ++i) {
      HPU_ASSIGN_OR_RETURN(const xla::Shape shape, context->InputXlaShape(i));
      tensorflow::TensorShape sizes;
      HPU_RETURN_IF_ERROR(tensorflow::XLAShapeToTensorShape(shape, &sizes));
      state.inputs.push_back({context->input_type(i), sizes});
    }
    state.output_types.assign(output_types().begin(), output_types().end());
    state.outputs.resize(state.output_types.size());
    habana::HpuKernelContext functor_context(&state);
    functor_->Define(&functor_context);
    HPU_RETURN_IF_ERROR(state.Finish());
    habana::HloKernelCall call;
    call.builder = context->builder();
    call.params = state.node->params;
    for (const int input : state.node->inputs) {
      call.inputs.push_back(context->Input(input));
      call.input_infos.push_back(state.inputs[input]);
    }
    for (const int output : state.node->outputs) call.output_infos.push_back(*state.outputs[output]);
    absl::StatusOr<std::vector<xla::XlaOp>> results = BuildKernel(state.node->guid, call);
    if (!results.ok()) {
      return Reworded(results.status(), state.Prefix() + std::string(results.status().message()));
    }
    for (size_t i = 0; i < results->size(); ++i) context->SetOutput(state.node->outputs[i], (*results)[i]);
    return absl::OkStatus();
  }

  const std::string activity_;  // for crash messages
  std::unique_ptr<tensorflow::OpKernel> kernel_;
  const habana::HpuKernelBase* functor_ = nullptr;  // the same object as kernel_
};

}  // namespace

void RegisterCustomLowering(const tensorflow::KernelDef& kernel) {
  auto lowering = std::make_unique<tensorflow::KernelDef>(kernel);
  lowering->set_device_type(kCompilationDevice);
  lowering->clear_host_memory_arg();
  // TensorFlow's registry owns the definition, so the registrar object may be a temporary.
  tensorflow::kernel_factory::OpKernelRegistrar(
      lowering.release(), "HpuCustomLowering",
      [](tensorflow::OpKernelConstruction* construction) -> tensorflow::OpKernel* {
        return new LoweringKernel(construction);
      });
}

}  // namespace hpu
