// Compiler IR functions of the C interface.
#include "plugin/compiler/compiler_ir.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "hpu/report/v1/report.pb.h"
#include "plugin/c_api/c_api.h"
#include "plugin/c_api/c_buffer.h"
#include "plugin/tensorflow/device/process_device.h"

namespace {

int32_t WriteResult(const absl::StatusOr<std::string>& result, hpu_buffer* out) {
  *out = hpu::MakeBuffer(result.ok() ? *result : std::string(result.status().message()));
  return static_cast<int32_t>(result.status().code());
}

absl::StatusOr<tensorflow::GraphDef> Parse(const void* graph, size_t size) {
  tensorflow::GraphDef definition;
  if (!definition.ParseFromArray(graph, static_cast<int>(size))) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot parse the graph (", size, " bytes): expected a serialised GraphDef"));
  }
  return definition;
}

absl::StatusOr<std::string> ListConstants(const void* graph, size_t size, const char* function) {
  const absl::StatusOr<tensorflow::GraphDef> definition = Parse(graph, size);
  if (!definition.ok()) return definition.status();
  const absl::StatusOr<std::vector<int>> constants = hpu::ConstantArguments(*definition, function);
  if (!constants.ok()) return constants.status();
  hpu::report::v1::NumberList list;
  *list.mutable_numbers() = {constants->begin(), constants->end()};
  return list.SerializeAsString();
}

absl::StatusOr<std::string> MakeIr(const void* graph, size_t size, const char* function, const char* stage) {
  const absl::StatusOr<tensorflow::GraphDef> definition = Parse(graph, size);
  if (!definition.ok()) return definition.status();
  return hpu::CompilerIr(*definition, function, stage, []() -> absl::StatusOr<hpu::hal::Device*> {
    const absl::StatusOr<hpu::ProcessDevice*> device = hpu::ProcessDevice::Get();
    if (!device.ok()) return device.status();
    return &(*device)->hal();
  });
}

}  // namespace

int32_t hpu_constant_arguments(const void* graph, size_t size, const char* function, hpu_buffer* out) {
  return WriteResult(ListConstants(graph, size, function), out);
}

int32_t hpu_compiler_ir(const void* graph, size_t size, const char* function, const char* stage, hpu_buffer* out) {
  return WriteResult(MakeIr(graph, size, function, stage), out);
}
