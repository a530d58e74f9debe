#include "plugin/backends/gaudi/plan/element_types.h"

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "xla/primitive_util.h"

namespace hpu::gaudi {

absl::StatusOr<synapse::synDataType> SynapseType(xla::PrimitiveType type, synapse::Generation generation) {
  switch (type) {
    case xla::PRED:
    case xla::S8:
      return synapse::syn_type_int8;
    case xla::U8:
      return synapse::syn_type_uint8;
    case xla::S16:
      return synapse::syn_type_int16;
    case xla::U16:
      return synapse::syn_type_uint16;
    case xla::S32:
    case xla::U32:
      return synapse::syn_type_int32;
    case xla::S64:
    case xla::U64:
      return synapse::syn_type_int64;
    case xla::F32:
      return synapse::syn_type_float;
    case xla::BF16:
      return synapse::syn_type_bf16;
    case xla::F16:
      if (generation != synapse::Generation::kGaudi) return synapse::syn_type_fp16;
      break;
    default:
      break;
  }
  return absl::UnimplementedError(absl::StrCat(synapse::GenerationName(generation), " does not compute with ",
                                               xla::primitive_util::LowercasePrimitiveTypeName(type)));
}

Sizes SizesOf(const xla::Shape& shape) {
  Sizes sizes(shape.dimensions().rbegin(), shape.dimensions().rend());
  if (sizes.empty()) sizes.push_back(1);
  return sizes;
}

absl::StatusOr<TensorType> TensorTypeOf(const xla::Shape& shape, synapse::Generation generation) {
  HPU_ASSIGN_OR_RETURN(const synapse::synDataType type, SynapseType(shape.element_type(), generation));
  return TensorType{type, SizesOf(shape)};
}

bool IsFloat(synapse::synDataType type) {
  return type == synapse::syn_type_float || type == synapse::syn_type_bf16 || type == synapse::syn_type_fp16;
}

}  // namespace hpu::gaudi
