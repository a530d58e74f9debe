#include "plugin/compiler/dynamic_shapes/bounded_arrays.h"

#include "plugin/base/status_macros.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/shape_util.h"

namespace hpu {

using xla::XlaOp;

XlaOp BoundedArray::Size(int64_t d) const {
  if (sizes[d].valid()) return sizes[d];
  return xla::ConstantR0<int32_t>(array.builder(), static_cast<int32_t>(shape.dimensions(d)));
}

absl::StatusOr<BoundedArray> ToBounded(XlaOp array) {
  BoundedArray bounded;
  HPU_ASSIGN_OR_RETURN(bounded.shape, array.builder()->GetShape(array));
  bounded.array = array;
  bounded.sizes.resize(bounded.shape.dimensions_size());
  for (int64_t d = 0; d < bounded.shape.dimensions_size(); ++d) {
    if (!bounded.shape.is_dynamic_dimension(d)) continue;
    bounded.sizes[d] = xla::GetDimensionSize(array, d);
    bounded.array = xla::RemoveDynamicDimension(bounded.array, d);
  }
  return bounded;
}

XlaOp ReplacePast(XlaOp array, XlaOp size, int64_t d, XlaOp by) {
  xla::XlaBuilder* const builder = array.builder();
  const absl::StatusOr<xla::Shape> shape = builder->GetShape(array);
  if (!shape.ok()) return builder->ReportError(shape.status());
  const xla::Shape indices = xla::ShapeUtil::MakeShape(xla::S32, shape->dimensions());
  return xla::Select(xla::Lt(xla::Iota(builder, indices, d), size), array, xla::Broadcast(by, shape->dimensions()));
}

XlaOp ReplacePast(const BoundedArray& bounded, XlaOp by) {
  XlaOp array = bounded.array;
  for (size_t d = 0; d < bounded.sizes.size(); ++d) {
    if (bounded.sizes[d].valid()) array = ReplacePast(array, bounded.sizes[d], static_cast<int64_t>(d), by);
  }
  return array;
}

XlaOp SetSizes(XlaOp array, absl::Span<const XlaOp> sizes) {
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d].valid()) array = xla::SetDimensionSize(array, sizes[d], static_cast<int64_t>(d));
  }
  return array;
}

namespace {

void AddCondition(XlaOp predicate, const char* target) {
  xla::CustomCall(predicate.builder(), target, {predicate}, xla::ShapeUtil::MakeShape(xla::PRED, {}),
                  /*opaque=*/"", /*has_side_effect=*/true);
}

}  // namespace

void RequireAtLaunch(XlaOp predicate) { AddCondition(predicate, kLaunchCondition); }

void RequireEqual(XlaOp one, XlaOp other) { AddCondition(xla::Eq(one, other), kRequired); }

}  // namespace hpu
