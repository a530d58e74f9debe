// C functions: tensors of graphs.
#include "plugin/testing/synapse_double/graph/tensor.h"

#include <algorithm>
#include <iterator>

#include "plugin/testing/synapse_double/c_api/exports.h"
#include "plugin/testing/synapse_double/graph/graph.h"
#include "plugin/testing/synapse_double/runtime/guard.h"
#include "plugin/testing/synapse_double/runtime/process.h"

namespace hpu::synapse {

using synapse_double::Graph;
using synapse_double::Handles;
using synapse_double::Refuse;
using synapse_double::Report;
using synapse_double::Rule;
using synapse_double::Sizes;
using synapse_double::Tensor;
using synapse_double::Text;

namespace {

// Applies `set` to a live tensor and reports its verdict.
template <typename Set>
synStatus SetProperty(synTensor tensor, const Set& set) {
  std::shared_ptr<Tensor> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(tensor, &found));
  return Report(set(*found));
}

synStatus CheckRank(uint32_t dims) {
  if (dims <= HABANA_DIM_MAX) return synSuccess;
  return Refuse(Rule::kRank, synInvalidTensorDimensions,
                Text("rank ", dims, "; tensors of this release have up to ", HABANA_DIM_MAX, " dimensions"));
}

}  // namespace

synStatus synTensorHandleCreate(synTensor* tensor, synGraphHandle graph, synTensorType type, const char* name) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(tensor);
  std::shared_ptr<Graph> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(graph, &found));
  if (type >= TENSOR_TYPE_INVALID) {
    return Refuse(Rule::kArguments, synInvalidArgument, Text("unknown tensor type ", uint32_t{type}));
  }
  std::shared_ptr<Tensor> created;
  const synapse_double::Verdict verdict = found->AddTensor(type, name == nullptr ? "" : name, &created);
  if (verdict.ok()) created->handle = Handles::Get().Add<synTensor>(created);
  *tensor = created->handle;
  return Report(verdict);
}

synStatus synTensorDestroy(const synTensor tensor) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Tensor> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(tensor, &found));
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Report(found->graph->RemoveTensor(*found)));
  Handles::Get().Remove(tensor);
  return synSuccess;
}

synStatus synTensorSetGeometry(synTensor tensor, const synTensorGeometry* geometry, synGeometryType type) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(geometry);
  synapse_double::CheckArrayGuard(geometry, 1, "geometry");
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(CheckRank(geometry->dims));
  return SetProperty(tensor, [&](Tensor& found) {
    return found.SetSizes(geometry->dims, Sizes(geometry->sizes, geometry->sizes + geometry->dims), type);
  });
}

#ifndef SYNAPSE_DOUBLE_1_5
synStatus synTensorSetDeviceDataType(synTensor tensor, synDataType type) {
  SYNAPSE_DOUBLE_CALL();
  return SetProperty(tensor, [&](Tensor& found) { return found.SetType(type); });
}
#endif

// Strides of 0 stand for a dense tensor. The references do not state the unit of strides, so the double refuses other
// strides.
synStatus synTensorSetDeviceFullLayout(synTensor tensor, const synTensorDeviceFullLayout* layout) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(layout);
  synapse_double::CheckArrayGuard(layout, 1, "layout");
  if (std::any_of(std::begin(layout->strides), std::end(layout->strides),
                  [](uint32_t stride) { return stride != 0; })) {
    return Report(synapse_double::NotModelled("strides of synTensorDeviceFullLayout"));
  }
  return SetProperty(tensor, [&](Tensor& found) { return found.SetType(layout->deviceDataType); });
}

synStatus synTensorAssignToSection(synTensor tensor, synSectionHandle section, uint64_t offset) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<synapse_double::Section> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(section, &found));
  return SetProperty(tensor, [&](Tensor& changed) { return changed.AssignToSection(found.get(), offset); });
}

synStatus synTensorSetHostPtr(synTensor tensor, void* data, uint64_t size, synDataType type, bool copy) {
  SYNAPSE_DOUBLE_CALL();
  return SetProperty(tensor, [&](Tensor& found) { return found.SetHostData(data, size, type, copy); });
}

synStatus synTensorSetPermutation(synTensor tensor, const synTensorPermutation* permutation) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(permutation);
  synapse_double::CheckArrayGuard(permutation, 1, "permutation");
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(CheckRank(permutation->dims));
  return SetProperty(tensor, [&](Tensor& found) {
    return found.SetPermutation({permutation->permutation, permutation->permutation + permutation->dims});
  });
}

synStatus synTensorSetAllowPermutation(synTensor tensor, int8_t allow) {
  SYNAPSE_DOUBLE_CALL();
  return SetProperty(tensor, [&](Tensor& found) { return found.SetAllowPermutation(allow); });
}

synStatus synTensorSetExternal(synTensor tensor, bool external) {
  SYNAPSE_DOUBLE_CALL();
  return SetProperty(tensor, [&](Tensor& found) { return found.SetExternal(external); });
}

// Kernels of the double do not quantise, so the value has no effect.
synStatus synTensorSetQuantizationData(synTensor tensor, synQuantizationProperty /*property*/, void* value,
                                       uint64_t /*size*/) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(value);
  return SetProperty(tensor, [&](Tensor& found) { return found.CheckUnlocked("quantisation data"); });
}

}  // namespace hpu::synapse
