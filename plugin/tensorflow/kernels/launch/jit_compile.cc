// tf.function(jit_compile=True) on the HPU: the function becomes one must-compile cluster.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "plugin/base/status_macros.h"
#include "plugin/compat/cluster_analysis.h"
#include "plugin/compat/function_bodies.h"
#include "plugin/compat/xla_kernel_creator.h"
#include "plugin/tensorflow/device/hpu_device.h"
#include "plugin/tensorflow/kernels/launch/launch_kernel.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu {
namespace {

using Kind = ArgumentDescription::Kind;

constexpr char kMustCompile[] = "_XlaMustCompile";

// TensorFlow calls the kernel creator for every function call that runs as a kernel. On an HPU, this creator creates a
// launch kernel for must-compile calls. On other devices, this creator forwards to XLA's creator. Thread safe.
class KernelCreator : public tensorflow::CustomKernelCreator {
 public:
  bool CanCreateKernel(const tensorflow::FunctionLibraryRuntime& runtime,
                       const std::shared_ptr<const tensorflow::NodeProperties>& properties) const override {
    if (!IsHpu(runtime.device())) return xla_.CanCreateKernel(runtime, properties);
    bool must_compile = false;
    return tensorflow::TryGetNodeAttr(properties->node_def, kMustCompile, &must_compile) && must_compile;
  }

  tensorflow::Status CreateKernel(tensorflow::FunctionLibraryRuntime* runtime,
                                  const std::shared_ptr<const tensorflow::NodeProperties>& properties,
                                  std::unique_ptr<tensorflow::OpKernel>* kernel) const override {
    if (!IsHpu(runtime->device())) return xla_.CreateKernel(runtime, properties, kernel);
    LaunchKernel::Cluster cluster;
    cluster.must_compile = true;
    HPU_ASSIGN_OR_RETURN(cluster.function, CalledFunction(properties->node_def));
    HPU_ASSIGN_OR_RETURN(const FunctionConstants found, FindFunctionConstants(cluster.function, runtime));
    const tensorflow::FunctionBody* const body = found.body;
    cluster.kinds.assign(body->arg_types.size(), Kind::kParameter);
    tensorflow::MemoryTypeVector input_memory(body->arg_types.size(), tensorflow::DEVICE_MEMORY);
    for (size_t i = 0; i < body->arg_types.size(); ++i) {
      const tensorflow::DataType type = body->arg_types[i];
      if (type == tensorflow::DT_RESOURCE) cluster.kinds[i] = Kind::kVariable;
      if (type == tensorflow::DT_RESOURCE || type == tensorflow::DT_INT32) input_memory[i] = tensorflow::HOST_MEMORY;
    }
    for (int i : found.constants) {
      // A variable is read in the cluster, even if the cluster needs the variable's value at compile time.
      if (cluster.kinds[i] == Kind::kVariable) continue;
      cluster.kinds[i] = Kind::kConstant;
      input_memory[i] = tensorflow::HOST_MEMORY;
    }
    tensorflow::MemoryTypeVector output_memory(body->ret_types.size(), tensorflow::DEVICE_MEMORY);
    for (size_t i = 0; i < body->ret_types.size(); ++i) {
      if (body->ret_types[i] == tensorflow::DT_RESOURCE) output_memory[i] = tensorflow::HOST_MEMORY;
    }

    auto call = std::make_shared<tensorflow::NodeProperties>(&SignatureOf(*body), properties->node_def, body->arg_types,
                                                             body->ret_types);
    tensorflow::Device* device = runtime->device();
    tensorflow::Status status;
    tensorflow::OpKernelConstruction construction(tensorflow::DeviceType(device->device_type()), device,
                                                  device->GetAllocator({}), runtime, device->resource_manager(), call,
                                                  input_memory, output_memory, runtime->graph_def_version(), &status);
    auto created = std::make_unique<LaunchKernel>(&construction, std::move(cluster));
    HPU_RETURN_IF_ERROR(status);
    *kernel = std::move(created);
    return absl::OkStatus();
  }

 private:
  const tensorflow::XlaKernelCreator xla_;
};

[[maybe_unused]] const bool creator_registered = [] {
  tensorflow::RegisterDefaultCustomKernelCreator(new KernelCreator);  // TensorFlow takes ownership
  return true;
}();

}  // namespace
}  // namespace hpu
