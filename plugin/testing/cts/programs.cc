#include "plugin/testing/cts/programs.h"

#include <vector>

#include "xla/hlo/builder/xla_builder.h"
#include "xla/hlo/builder/xla_computation.h"

namespace hpu::cts {
namespace {

xla::Shape Floats(int64_t n) { return xla::ShapeUtil::MakeShape(xla::F32, {n}); }

hal::Program Finish(xla::XlaBuilder& builder) {
  const xla::XlaComputation computation = builder.Build().value();
  return hal::Program{builder.name(), computation.proto().SerializeAsString()};
}

}  // namespace

hal::Program SumAndProduct(int64_t n) {
  xla::XlaBuilder builder("sum_and_product");
  const xla::XlaOp a = xla::Parameter(&builder, 0, Floats(n), "a");
  const xla::XlaOp b = xla::Parameter(&builder, 1, Floats(n), "b");
  xla::Tuple(&builder, {xla::Add(a, b), xla::Mul(a, b)});
  return Finish(builder);
}

hal::Program AddInPlace(int64_t n) {
  xla::XlaBuilder builder("add_in_place");
  const xla::XlaOp x = xla::Parameter(&builder, 0, Floats(n), "x");
  const xla::XlaOp d = xla::Parameter(&builder, 1, Floats(n), "d");
  xla::Tuple(&builder, {xla::Add(x, d)});
  builder.SetUpAlias(/*output_index=*/{0}, /*param_number=*/0, /*param_index=*/{},
                     xla::HloInputOutputAliasConfig::AliasKind::kMayAlias);
  return Finish(builder);
}

hal::Program AddInPlaceOutOfMemory(int64_t n) {
  constexpr int64_t kMany = int64_t{1} << 46;
  const xla::Shape scalar = xla::ShapeUtil::MakeShape(xla::F32, {});
  xla::XlaBuilder less("less");
  xla::Lt(xla::Parameter(&less, 0, scalar, "a"), xla::Parameter(&less, 1, scalar, "b"));
  xla::XlaBuilder builder("add_in_place_out_of_memory");
  const xla::XlaOp x = xla::Parameter(&builder, 0, Floats(n), "x");
  const xla::XlaOp d = xla::Parameter(&builder, 1, Floats(n), "d");
  const xla::XlaOp factor = xla::Reshape(xla::Slice(d, {0}, {1}, {1}), {});
  const xla::XlaOp many = xla::Mul(xla::Iota(&builder, xla::F32, kMany), xla::Broadcast(factor, {kMany}));
  const xla::XlaOp sorted = xla::Sort({many}, less.Build().value());
  const xla::XlaOp first = xla::Reshape(xla::Slice(sorted, {0}, {1}, {1}), {});
  xla::Tuple(&builder, {xla::Add(xla::Add(x, d), xla::Broadcast(first, {n}))});
  builder.SetUpAlias(/*output_index=*/{0}, /*param_number=*/0, /*param_index=*/{},
                     xla::HloInputOutputAliasConfig::AliasKind::kMayAlias);
  return Finish(builder);
}

hal::Program SumOfScalars(int count) {
  xla::XlaBuilder builder("sum_of_scalars");
  xla::XlaOp sum = xla::ConstantR0<float>(&builder, 0);
  for (int i = 0; i < count; ++i) {
    sum = xla::Add(sum, xla::Parameter(&builder, i, xla::ShapeUtil::MakeShape(xla::F32, {}), "x"));
  }
  xla::Tuple(&builder, {sum});
  return Finish(builder);
}

hal::Program DoubleUntil(int64_t n) {
  const xla::Shape limit_shape = xla::ShapeUtil::MakeShape(xla::F32, {});
  const xla::Shape state_shape = xla::ShapeUtil::MakeTupleShape({Floats(n), limit_shape});
  xla::XlaBuilder condition("condition");
  {
    const xla::XlaOp state = xla::Parameter(&condition, 0, state_shape, "state");
    const xla::XlaOp first = xla::Reshape(xla::Slice(xla::GetTupleElement(state, 0), {0}, {1}, {1}), {});
    xla::Lt(first, xla::GetTupleElement(state, 1));
  }
  xla::XlaBuilder body("body");
  {
    const xla::XlaOp state = xla::Parameter(&body, 0, state_shape, "state");
    const xla::XlaOp x = xla::GetTupleElement(state, 0);
    xla::Tuple(&body, {xla::Add(x, x), xla::GetTupleElement(state, 1)});
  }
  xla::XlaBuilder builder("double_until");
  const xla::XlaOp x = xla::Parameter(&builder, 0, Floats(n), "x");
  const xla::XlaOp limit = xla::Parameter(&builder, 1, limit_shape, "limit");
  const xla::XlaOp end = xla::While(condition.Build().value(), body.Build().value(), xla::Tuple(&builder, {x, limit}));
  xla::Tuple(&builder, {xla::GetTupleElement(end, 0)});
  builder.SetUpAlias(/*output_index=*/{0}, /*param_number=*/0, /*param_index=*/{},
                     xla::HloInputOutputAliasConfig::AliasKind::kMayAlias);
  return Finish(builder);
}

hal::Program Constant() {
  xla::XlaBuilder builder("constant");
  xla::Tuple(&builder, {xla::ConstantR0<int32_t>(&builder, 7)});
  return Finish(builder);
}

hal::Program WithEmptyArray() {
  xla::XlaBuilder builder("with_empty_array");
  const xla::XlaOp e = xla::Parameter(&builder, 0, Floats(0), "e");
  const xla::XlaOp x = xla::Parameter(&builder, 1, Floats(2), "x");
  xla::Tuple(&builder, {xla::Neg(e), xla::Neg(x)});
  return Finish(builder);
}

hal::Program WithoutTuple() {
  xla::XlaBuilder builder("without_tuple");
  xla::Neg(xla::Parameter(&builder, 0, Floats(2), "x"));
  return Finish(builder);
}

}  // namespace hpu::cts
