// Tests of recipes for every kind of XLA-generated code. Recipes run without kernels; results must equal the results of
// XLA's just-in-time executable bit for bit.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "plugin/testing/cts/fixture.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/comparators.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/math.h"
#include "xla/hlo/builder/lib/sorting.h"
#include "xla/hlo/builder/padding.h"

namespace hpu::emulator {
namespace recipe_ops_test {

using xla::Shape;
using xla::XlaBuilder;
using xla::XlaOp;

Shape Floats(std::vector<int64_t> dims) { return xla::ShapeUtil::MakeShape(xla::F32, dims); }

struct OpCase {
  std::string name;
  std::vector<Shape> parameters;
  std::function<std::vector<XlaOp>(XlaBuilder*, const std::vector<XlaOp>&)> build;
};

std::ostream& operator<<(std::ostream& stream, const OpCase& op_case) { return stream << op_case.name; }

xla::XlaComputation Build(const OpCase& op_case) {
  XlaBuilder builder(op_case.name);
  std::vector<XlaOp> parameters;
  for (size_t i = 0; i < op_case.parameters.size(); ++i) {
    parameters.push_back(xla::Parameter(&builder, i, op_case.parameters[i], absl::StrCat("p", i)));
  }
  xla::Tuple(&builder, op_case.build(&builder, parameters));
  return builder.Build().value();
}

std::vector<XlaOp> SumOfLoop(XlaBuilder* builder, const std::vector<XlaOp>& p) {
  const Shape state = xla::ShapeUtil::MakeTupleShape({xla::ShapeUtil::MakeShape(xla::S32, {}), Floats({64})});
  XlaBuilder condition("condition");
  xla::Lt(xla::GetTupleElement(xla::Parameter(&condition, 0, state, "state"), 0),
          xla::ConstantR0<int32_t>(&condition, 9));
  XlaBuilder body("body");
  XlaOp old = xla::Parameter(&body, 0, state, "state");
  XlaOp value = xla::GetTupleElement(old, 1);
  xla::Tuple(&body, {xla::GetTupleElement(old, 0) + xla::ConstantR0<int32_t>(&body, 1), xla::Tanh(value) + value});
  XlaOp end = xla::While(condition.Build().value(), body.Build().value(),
                         xla::Tuple(builder, {xla::ConstantR0<int32_t>(builder, 0), p[0]}));
  return {xla::GetTupleElement(end, 0), xla::GetTupleElement(end, 1)};
}

std::vector<XlaOp> Branches(XlaBuilder* builder, const std::vector<XlaOp>& p) {
  XlaBuilder negate("negate");
  xla::Neg(xla::Parameter(&negate, 0, Floats({100}), "x"));
  XlaBuilder exponential("exponential");
  xla::Exp(xla::Parameter(&exponential, 0, Floats({100}), "x"));
  return {xla::Conditional(p[0], p[1], negate.Build().value(), p[1], exponential.Build().value())};
}

std::vector<XlaOp> SortPairs(XlaBuilder* builder, const std::vector<XlaOp>& p) {
  XlaOp sorted = xla::Sort({p[0], p[1]}, xla::CreateScalarLtComputation({xla::F32, xla::S32}, builder), 1, true);
  return {xla::GetTupleElement(sorted, 0), xla::GetTupleElement(sorted, 1)};
}

std::vector<XlaOp> TopThree(XlaBuilder*, const std::vector<XlaOp>& p) {
  XlaOp top = xla::TopK(p[0], 3, xla::S32);
  return {xla::GetTupleElement(top, 0), xla::GetTupleElement(top, 1)};
}

std::vector<XlaOp> RandomBits(XlaBuilder*, const std::vector<XlaOp>& p) {
  XlaOp philox =
      xla::RngBitGenerator(xla::RandomAlgorithm::RNG_PHILOX, p[0], xla::ShapeUtil::MakeShape(xla::U32, {1000}));
  return {xla::GetTupleElement(philox, 0), xla::GetTupleElement(philox, 1)};
}

std::vector<XlaOp> Mathematics(XlaBuilder*, const std::vector<XlaOp>& p) {
  return {xla::Exp(p[0]),
          xla::Log(xla::Abs(p[0])),
          xla::Tanh(p[0]),
          xla::Sin(p[0]),
          xla::Erf(p[0]),
          xla::Cbrt(p[0]),
          xla::Pow(xla::Abs(p[0]), p[1]),
          xla::Atan2(p[0], p[1]),
          xla::Rsqrt(xla::Abs(p[0])),
          xla::Logistic(p[0]),
          xla::Lgamma(p[0])};
}

std::vector<XlaOp> Elementwise(XlaBuilder*, const std::vector<XlaOp>& p) {
  return {p[0] + p[1], p[0] * p[1] - p[0], xla::Max(p[0], p[1])};
}

std::vector<XlaOp> Product(XlaBuilder*, const std::vector<XlaOp>& p) { return {xla::Dot(p[0], p[1])}; }

std::vector<XlaOp> Convolve(XlaBuilder*, const std::vector<XlaOp>& p) {
  return {xla::Conv(p[0], p[1], std::vector<int64_t>(p[0].builder()->GetShape(p[0])->dimensions_size() - 2, 1),
                    xla::Padding::kSame)};
}

// Max pooling and its gradient.
std::vector<XlaOp> Pool(XlaBuilder* builder, const std::vector<XlaOp>& p) {
  XlaOp lowest = xla::MinValue(builder, xla::F32);
  xla::XlaComputation maximum = xla::CreateScalarMaxComputation(xla::F32, builder);
  XlaOp pooled = xla::ReduceWindow(p[0], lowest, maximum, {1, 2, 2, 1}, {1, 2, 2, 1}, xla::Padding::kValid);
  XlaOp gradient = xla::SelectAndScatter(p[0], xla::CreateScalarGeComputation(xla::F32, builder), {1, 2, 2, 1},
                                         {1, 2, 2, 1}, xla::Padding::kValid, pooled, xla::Zero(builder, xla::F32),
                                         xla::CreateScalarAddComputation(xla::F32, builder));
  return {pooled, gradient};
}

std::vector<XlaOp> Reductions(XlaBuilder* builder, const std::vector<XlaOp>& p) {
  XlaOp zero = xla::Zero(builder, xla::F32);
  xla::XlaComputation add = xla::CreateScalarAddComputation(xla::F32, builder);
  return {xla::Reduce(p[0], zero, add, {0}), xla::Reduce(p[0], zero, add, {1}), xla::ReduceAll(p[0], zero, add)};
}

std::vector<XlaOp> Fourier(XlaBuilder*, const std::vector<XlaOp>& p) {
  XlaOp spectrum = xla::Fft(p[0], xla::FftType::RFFT, {128});
  return {xla::Real(spectrum), xla::Imag(spectrum), xla::Fft(spectrum, xla::FftType::IRFFT, {128})};
}

std::vector<XlaOp> BigConstant(XlaBuilder* builder, const std::vector<XlaOp>& p) {
  return {p[0] + xla::ConstantLiteral(builder, Numbers(Floats({2'500'000}), 7))};
}

std::vector<XlaOp> Reused(XlaBuilder* builder, const std::vector<XlaOp>& p) {
  XlaOp sum = p[0] + p[1];
  return {p[0], sum, sum, xla::ConstantR1<float>(builder, {1, 2, 3}), p[1], p[0]};
}

std::vector<XlaOp> Nothing(XlaBuilder*, const std::vector<XlaOp>&) { return {}; }

std::vector<XlaOp> GatherScatter(XlaBuilder* builder, const std::vector<XlaOp>& p) {
  XlaOp index = xla::Rem(xla::Abs(p[1]), xla::ConstantR0<int32_t>(builder, 50));
  xla::GatherDimensionNumbers gather;
  gather.add_offset_dims(1);
  gather.add_collapsed_slice_dims(0);
  gather.add_start_index_map(0);
  gather.set_index_vector_dim(1);
  xla::ScatterDimensionNumbers scatter;
  scatter.add_update_window_dims(1);
  scatter.add_inserted_window_dims(0);
  scatter.add_scatter_dims_to_operand_dims(0);
  scatter.set_index_vector_dim(1);
  XlaOp rows = xla::Gather(p[0], index, gather, {1, 8});
  return {rows, xla::Scatter(p[0], index, rows, xla::CreateScalarAddComputation(xla::F32, builder), scatter)};
}

std::vector<OpCase> Cases() {
  const Shape bits = xla::ShapeUtil::MakeShape(xla::S32, {20, 300});
  const Shape flag = xla::ShapeUtil::MakeShape(xla::PRED, {});
  std::vector<OpCase> cases = {
      {"Mathematics", {Floats({3000}), Floats({3000})}, Mathematics},
      {"LargeElementwise", {Floats({1 << 20}), Floats({1 << 20})}, Elementwise},
      {"Matmul", {Floats({70, 130}), Floats({130, 90})}, Product},
      {"LargeMatmul", {Floats({300, 400}), Floats({400, 200})}, Product},
      {"MatmulF64",
       {xla::ShapeUtil::MakeShape(xla::F64, {64, 64}), xla::ShapeUtil::MakeShape(xla::F64, {64, 64})},
       Product},
      {"MatmulBF16",
       {xla::ShapeUtil::MakeShape(xla::BF16, {64, 64}), xla::ShapeUtil::MakeShape(xla::BF16, {64, 64})},
       Product},
      {"MatmulF16",
       {xla::ShapeUtil::MakeShape(xla::F16, {64, 64}), xla::ShapeUtil::MakeShape(xla::F16, {64, 64})},
       Product},
      {"MatmulS32",
       {xla::ShapeUtil::MakeShape(xla::S32, {64, 64}), xla::ShapeUtil::MakeShape(xla::S32, {64, 64})},
       Product},
      {"Convolution", {Floats({2, 4, 24, 24}), Floats({8, 4, 3, 3})}, Convolve},
      {"Convolution1D", {Floats({2, 4, 24}), Floats({8, 4, 3})}, Convolve},
      {"Convolution3D", {Floats({2, 3, 8, 8, 8}), Floats({4, 3, 3, 3, 3})}, Convolve},
      {"ConvolutionF16",
       {xla::ShapeUtil::MakeShape(xla::F16, {1, 4, 8, 8}), xla::ShapeUtil::MakeShape(xla::F16, {8, 4, 3, 3})},
       Convolve},
      {"Pool", {Floats({2, 16, 16, 3})}, Pool},
      {"Reductions", {Floats({500, 300})}, Reductions},
      {"While", {Floats({64})}, SumOfLoop},
      {"Conditional", {flag, Floats({100})}, Branches},
      {"Sort", {Floats({20, 300}), bits}, SortPairs},
      {"TopK", {Floats({500})}, TopThree},
      {"Fft", {Floats({4, 128})}, Fourier},
      {"RngBitGenerator", {xla::ShapeUtil::MakeShape(xla::U64, {3})}, RandomBits},
      {"GatherScatter", {Floats({50, 8}), xla::ShapeUtil::MakeShape(xla::S32, {20, 1})}, GatherScatter},
      {"BigConstant", {Floats({2'500'000})}, BigConstant},
      {"PassedThroughAndDuplicate", {Floats({333}), Floats({333})}, Reused},
      {"NoResult", {Floats({3})}, Nothing},
      {"Empty", {Floats({0, 4}), Floats({0, 4})}, Elementwise},
      {"EmptyInner", {Floats({4, 0}), Floats({0, 4})}, Product},
      {"Scalars", {Floats({}), Floats({})}, Elementwise},
      {"Strided",
       {Floats({64, 64})},
       [](XlaBuilder*, const std::vector<XlaOp>& p) -> std::vector<XlaOp> {
         return {xla::Transpose(xla::Slice(p[0], {1, 3}, {60, 60}, {2, 3}), {1, 0}), xla::Rev(p[0], {0})};
       }},
  };
  for (xla::PrimitiveType type :
       {xla::F16, xla::BF16, xla::F64, xla::S8, xla::U8, xla::S16, xla::U16, xla::S32, xla::U32, xla::S64, xla::U64}) {
    Shape shape = xla::ShapeUtil::MakeShape(type, {257});
    cases.push_back({"Elementwise" + xla::PrimitiveType_Name(type), {shape, shape}, Elementwise});
  }
  const Shape predicate = xla::ShapeUtil::MakeShape(xla::PRED, {257});
  cases.push_back(
      {"ElementwisePRED", {predicate, predicate}, [](XlaBuilder*, const std::vector<XlaOp>& p) -> std::vector<XlaOp> {
         return {xla::And(p[0], p[1]), xla::Or(p[0], xla::Not(p[1]))};
       }});
  const Shape complex = xla::ShapeUtil::MakeShape(xla::C64, {257});
  cases.push_back(
      {"ElementwiseC64", {complex, complex}, [](XlaBuilder*, const std::vector<XlaOp>& p) -> std::vector<XlaOp> {
         return {p[0] * p[1] + p[0], xla::Exp(p[0])};
       }});
  cases.push_back({"Conversions", {Floats({257})}, [](XlaBuilder*, const std::vector<XlaOp>& p) -> std::vector<XlaOp> {
                     XlaOp half = xla::ConvertElementType(p[0], xla::F16);
                     XlaOp brain = xla::ConvertElementType(p[0], xla::BF16);
                     return {half, brain, xla::ConvertElementType(half, xla::F64),
                             xla::ConvertElementType(brain, xla::S32)};
                   }});
  return cases;
}

class RecipeOpsTest : public testing::TestWithParam<OpCase> {};

TEST_P(RecipeOpsTest, EqualsJustInTimeBitForBit) {
  cts::ScopedVariable no_kernels("HPU_EMULATOR_KERNELS", "off");
  xla::XlaComputation computation = Build(GetParam());
  std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  auto recipe = CompileRecipe(ProgramOf(computation));
  ASSERT_TRUE(recipe.ok()) << recipe.status();
  EXPECT_EQ((*recipe)->arguments().size(), arguments.size());
  std::vector<std::string> want = RunJit(computation, arguments);
  std::vector<std::string> got = RunRecipe(**recipe, arguments);
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(got[i] == want[i]) << "result " << i;

  auto bytes = (*recipe)->Serialize();
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  auto loaded = LoadRecipe("loaded", *bytes);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_TRUE(RunRecipe(**loaded, arguments) == got);
}

INSTANTIATE_TEST_SUITE_P(Ops, RecipeOpsTest, testing::ValuesIn(Cases()),
                         [](const testing::TestParamInfo<OpCase>& info) { return info.param.name; });

}  // namespace recipe_ops_test
}  // namespace hpu::emulator
