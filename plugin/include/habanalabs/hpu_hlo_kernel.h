// User kernels written as HLO, which XLA fuses with the surrounding ops. Registered in a library of custom ops or in a
// library that GC_KERNEL_PATH names:
//
//   static const bool registered = habana::RegisterHloKernel("square_fwd_f32", [](const habana::HloKernelCall& call) {
//     return std::vector<xla::XlaOp>{xla::Mul(call.inputs[0], call.inputs[0])};
//   });
#ifndef HPU_PLUGIN_INCLUDE_HABANALABS_HPU_HLO_KERNEL_H_
#define HPU_PLUGIN_INCLUDE_HABANALABS_HPU_HLO_KERNEL_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "habanalabs/hpu_kernel_context.h"
// TensorFlow's package has the header at one of two paths.
#if __has_include("xla/hlo/builder/xla_builder.h")
#include "xla/hlo/builder/xla_builder.h"
#else
#include "xla/client/xla_builder.h"
#endif

namespace habana {
inline namespace v1 {

struct HloKernelCall {
  xla::XlaBuilder* builder;
  std::vector<xla::XlaOp> inputs;
  std::vector<TensorInfo> input_infos;
  std::vector<TensorInfo> output_infos;  // as passed to DefineOutputInfo
  std::string params;                    // the bytes of NodeDesc::user_params
};

// Returns an array for each output, with the output's type and shape. Called on any thread, at each compile.
using HloKernel = std::function<absl::StatusOr<std::vector<xla::XlaOp>>(const HloKernelCall&)>;

// Returns false if the guid is already registered. The first kernel then stays registered. Thread safe.
HABANALABS_EXPORT bool RegisterHloKernel(const std::string& guid, HloKernel kernel);

}  // namespace v1
}  // namespace habana

#endif  // HPU_PLUGIN_INCLUDE_HABANALABS_HPU_HLO_KERNEL_H_
