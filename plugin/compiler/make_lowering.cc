#include "plugin/compiler/make_lowering.h"

#include "plugin/base/status_macros.h"
#include "tensorflow/core/framework/node_properties.h"

namespace hpu {

absl::StatusOr<std::unique_ptr<tensorflow::OpKernel>> MakeLowering(tensorflow::OpKernelConstruction* construction,
                                                                   const char* device,
                                                                   const tensorflow::NodeDef& node) {
  std::shared_ptr<const tensorflow::NodeProperties> properties;
  HPU_RETURN_IF_ERROR(
      tensorflow::NodeProperties::CreateFromNodeDef(node, tensorflow::OpRegistry::Global(), &properties));
  tensorflow::OpKernel* kernel = nullptr;
  HPU_RETURN_IF_ERROR(tensorflow::CreateOpKernel(tensorflow::DeviceType(device), construction->device(),
                                                 construction->device()->GetAllocator({}),
                                                 construction->function_library(), construction->resource_manager(),
                                                 properties, construction->graph_def_version(), &kernel));
  return std::unique_ptr<tensorflow::OpKernel>(kernel);
}

}  // namespace hpu
