#include "plugin/tensorflow/custom/hlo_kernels.h"

#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/status_payloads.h"
#include "plugin/program/user_kernels/user_kernels.h"
#include "tensorflow/compiler/tf2xla/shape_util.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using habana::HloKernel;
using habana::HloKernelCall;
using Results = absl::StatusOr<std::vector<xla::XlaOp>>;

class Table {
 public:
  bool Add(const std::string& guid, HloKernel kernel) {
    absl::MutexLock lock(&mutex_);
    return kernels_.emplace(guid, std::move(kernel)).second;
  }
  // Returns an empty function if the guid is not registered.
  HloKernel Find(const std::string& guid) {
    absl::MutexLock lock(&mutex_);
    const auto found = kernels_.find(guid);
    return found == kernels_.end() ? nullptr : found->second;
  }

 private:
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, HloKernel> kernels_ ABSL_GUARDED_BY(mutex_);
};

Table& Kernels() {
  static auto* table = new Table;
  return *table;
}

absl::StatusOr<std::vector<xla::Shape>> ShapesOf(const std::vector<habana::TensorInfo>& infos) {
  std::vector<xla::Shape> shapes(infos.size());
  for (size_t i = 0; i < infos.size(); ++i) {
    HPU_RETURN_IF_ERROR(tensorflow::TensorShapeToXLAShape(infos[i].dtype, infos[i].shape, &shapes[i]));
  }
  return shapes;
}

// Adds a custom call; the backend looks up the user kernel by its guid.
Results CallUserKernel(const std::string& guid, const HloKernelCall& call) {
  HPU_ASSIGN_OR_RETURN(const std::vector<xla::Shape> shapes, ShapesOf(call.output_infos));
  const std::string text = UserKernelCallText(guid, call.params);
  if (shapes.size() == 1) {
    return std::vector<xla::XlaOp>{xla::CustomCall(call.builder, kUserKernelTarget, call.inputs, shapes.front(), text)};
  }
  const xla::XlaOp all =
      xla::CustomCall(call.builder, kUserKernelTarget, call.inputs, xla::ShapeUtil::MakeTupleShape(shapes), text);
  std::vector<xla::XlaOp> results;
  for (size_t i = 0; i < shapes.size(); ++i) results.push_back(xla::GetTupleElement(all, static_cast<int64_t>(i)));
  return results;
}

absl::Status CheckResults(const HloKernelCall& call, const std::vector<xla::XlaOp>& results) {
  HPU_ASSIGN_OR_RETURN(const std::vector<xla::Shape> shapes, ShapesOf(call.output_infos));
  if (results.size() != shapes.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected one result for each output of DefineNode (", shapes.size(), "), got ", results.size()));
  }
  for (size_t i = 0; i < shapes.size(); ++i) {
    HPU_ASSIGN_OR_RETURN(const xla::Shape shape, call.builder->GetShape(results[i]));
    if (xla::ShapeUtil::Compatible(shape, shapes[i])) continue;
    return absl::InvalidArgumentError(absl::StrCat("result ", i, " has shape ", xla::ShapeUtil::HumanString(shape),
                                                   ", but DefineOutputInfo declared ",
                                                   xla::ShapeUtil::HumanString(shapes[i])));
  }
  return absl::OkStatus();
}

Results Build(const std::string& guid, const HloKernelCall& call) {
  HloKernel kernel = Kernels().Find(guid);
  if (!kernel) {
    HPU_RETURN_IF_ERROR(LoadKernelLibraries());
    kernel = Kernels().Find(guid);
  }
  if (!kernel) return CallUserKernel(guid, call);
  HPU_ASSIGN_OR_RETURN(std::vector<xla::XlaOp> results, kernel(call));
  HPU_RETURN_IF_ERROR(call.builder->first_error());
  HPU_RETURN_IF_ERROR(CheckResults(call, results));
  return results;
}

}  // namespace

Results BuildKernel(const std::string& guid, const HloKernelCall& call) {
  Results results = Build(guid, call);
  if (results.ok()) return results;
  return Reworded(results.status(), absl::StrCat("kernel '", guid, "': ", results.status().message()));
}

}  // namespace hpu

namespace habana {
inline namespace v1 {

bool RegisterHloKernel(const std::string& guid, HloKernel kernel) {
  return hpu::Kernels().Add(guid, std::move(kernel));
}

}  // namespace v1
}  // namespace habana
