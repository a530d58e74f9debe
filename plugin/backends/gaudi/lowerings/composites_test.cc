// Composites: marked calls as kernels, against their plain computations and XLA's evaluator.
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "plugin/compat/unary_ops.h"
#include "plugin/compat/xla_compat.h"
#include "plugin/program/marked_call.h"
#include "plugin/testing/gaudi_program.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/math.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/literal_util.h"
#include "xla/shape_util.h"

namespace hpu::gaudi {
namespace composites_test {

using xla::XlaOp;
using Values = std::vector<XlaOp>;
using Body = std::function<XlaOp(const Values&)>;

xla::Shape ShapeOf(XlaOp x) { return x.builder()->GetShape(x).value(); }

// Reduces the last dimension.
XlaOp ReduceRows(XlaOp x, bool is_max) {
  const xla::Shape shape = ShapeOf(x);
  const xla::PrimitiveType type = shape.element_type();
  return is_max ? xla::Reduce(x, xla::MinValue(x.builder(), type), xla::CreateScalarMaxComputation(type, x.builder()),
                              {shape.dimensions_size() - 1})
                : xla::Reduce(x, xla::Zero(x.builder(), type), xla::CreateScalarAddComputation(type, x.builder()),
                              {shape.dimensions_size() - 1});
}

// Broadcasts one value per row to all elements of the row, in the shape of `like`.
XlaOp ToRows(XlaOp rows, XlaOp like) {
  const xla::Shape shape = ShapeOf(like);
  std::vector<int64_t> dimensions;
  for (int64_t d = 0; d + 1 < shape.dimensions_size(); ++d) dimensions.push_back(d);
  return xla::BroadcastInDim(rows, shape.dimensions(), dimensions);
}

// Broadcasts a vector along the last dimension to the shape of `like`.
XlaOp ToColumns(XlaOp vector, XlaOp like) {
  const xla::Shape shape = ShapeOf(like);
  return xla::BroadcastInDim(vector, shape.dimensions(), {shape.dimensions_size() - 1});
}

XlaOp LogSoftmax(XlaOp x) {
  const XlaOp shifted = x - ToRows(ReduceRows(x, true), x);
  return shifted - ToRows(xla::Log(ReduceRows(xla::Exp(shifted), false)), x);
}

XlaOp SparseCrossEntropy(const Values& v) {
  const xla::Shape shape = ShapeOf(v[0]);
  const XlaOp log = LogSoftmax(v[0]);
  const XlaOp labels = xla::BroadcastInDim(v[1], shape.dimensions(), {0});
  const XlaOp is_label =
      xla::Eq(xla::Iota(v[0].builder(), xla::ShapeUtil::ChangeElementType(shape, xla::S32), 1), labels);
  const XlaOp is_class = xla::And(xla::Ge(v[1], xla::ZerosLike(v[1])),
                                  xla::Lt(v[1], xla::FullLike(v[1], static_cast<int32_t>(shape.dimensions(1)))));
  const XlaOp loss = xla::Neg(ReduceRows(xla::Select(is_label, log, xla::ZerosLike(log)), false));
  const XlaOp gradient = xla::Exp(log) - xla::Select(is_label, xla::FullLike(log, 1.0f), xla::ZerosLike(log));
  const XlaOp nan = xla::NanValue(v[0].builder(), shape.element_type());
  return xla::Tuple(v[0].builder(), {xla::Select(is_class, loss, xla::Broadcast(nan, {shape.dimensions(0)})),
                                     xla::Select(xla::BroadcastInDim(is_class, shape.dimensions(), {0}), gradient,
                                                 xla::Broadcast(nan, shape.dimensions()))});
}

XlaOp GeluInner(XlaOp x) { return xla::ScalarLike(x, 0.7978845608) * (x + xla::ScalarLike(x, 0.044715) * x * x * x); }
XlaOp Gelu(XlaOp x) { return xla::ScalarLike(x, 0.5) * x * (xla::ScalarLike(x, 1) + xla::Tanh(GeluInner(x))); }
XlaOp GeluGradient(const Values& v) {
  const XlaOp x = v[1];
  const XlaOp tanh = xla::Tanh(GeluInner(x));
  const XlaOp one = xla::ScalarLike(x, 1);
  const XlaOp half = xla::ScalarLike(x, 0.5);
  const XlaOp slope = xla::ScalarLike(x, 0.7978845608) * (one + xla::ScalarLike(x, 3 * 0.044715) * x * x);
  return v[0] * (half * (one + tanh) + half * x * (one - tanh * tanh) * slope);
}
XlaOp ExactGelu(XlaOp x) {
  return xla::ScalarLike(x, 0.5) * x * (xla::ScalarLike(x, 1) + xla::Erf(x * xla::ScalarLike(x, 0.70710678)));
}

XlaOp LayerNorm(const Values& v) {
  const XlaOp x = xla::ConvertElementType(v[0], xla::F32);
  const xla::Shape shape = ShapeOf(x);
  const XlaOp count = xla::ScalarLike(x, static_cast<float>(shape.dimensions(shape.dimensions_size() - 1)));
  const XlaOp mean = ReduceRows(x, false) / count;
  const XlaOp distance = x - ToRows(mean, x);
  const XlaOp variance = ReduceRows(distance * distance, false) / count;
  const XlaOp istd = xla::Rsqrt(variance + xla::ScalarLike(variance, 0.001));
  const XlaOp y = distance * ToRows(istd, x) * ToColumns(v[2], x) + ToColumns(v[1], x);
  return xla::Tuple(x.builder(), {xla::ConvertElementType(y, ShapeOf(v[0]).element_type()), mean, istd});
}

// Operands: x, dy, mean, inverse deviation, gamma.
XlaOp LayerNormGradient(const Values& v) {
  const XlaOp x = v[0];
  const xla::Shape shape = ShapeOf(x);
  const XlaOp count = xla::ScalarLike(x, static_cast<float>(shape.dimensions(shape.dimensions_size() - 1)));
  const XlaOp normal = (x - ToRows(v[2], x)) * ToRows(v[3], x);
  const XlaOp d = v[1] * ToColumns(v[4], x);
  const XlaOp mean = ReduceRows(d, false) / count;
  const XlaOp mean_of_products = ReduceRows(d * normal, false) / count;
  const XlaOp dx = ToRows(v[3], x) * (d - ToRows(mean, x) - normal * ToRows(mean_of_products, x));
  std::vector<int64_t> rows;
  for (int64_t i = 0; i + 1 < shape.dimensions_size(); ++i) rows.push_back(i);
  const auto sum = [&](XlaOp of) {
    return xla::Reduce(of, xla::Zero(x.builder(), xla::F32), xla::CreateScalarAddComputation(xla::F32, x.builder()),
                       rows);
  };
  return xla::Tuple(x.builder(), {dx, sum(v[1]), sum(v[1] * normal)});
}

xla::Shape Float(std::vector<int64_t> dimensions) { return xla::ShapeUtil::MakeShape(xla::F32, dimensions); }

class CompositesTest : public ProgramTest {
 protected:
  // A program that calls `body` with its arguments. `operation` marks the call.
  static std::string Program(const std::string& operation, const std::vector<xla::Shape>& shapes, const Body& body) {
    xla::XlaBuilder builder("entry");
    const std::unique_ptr<xla::XlaBuilder> inner = builder.CreateSubBuilder("body");
    Values operands, parameters;
    for (size_t i = 0; i < shapes.size(); ++i) {
      const auto number = static_cast<int64_t>(i);
      operands.push_back(xla::Parameter(&builder, number, shapes[i], absl::StrCat("x", i)));
      parameters.push_back(xla::Parameter(inner.get(), number, shapes[i], absl::StrCat("p", i)));
    }
    const xla::XlaComputation computation = inner->Build(body(parameters)).value();
    xla::FrontendAttributes attributes;
    (*attributes.mutable_map())[kOperationAttribute] = operation;
    builder.SetFrontendAttributes(attributes);
    const XlaOp call = xla::Call(&builder, computation, operands);
    const xla::HloModuleProto proto = builder.Build(call).value().proto();
    const xla::HloModuleConfig config(compat::ProgramShapeFromProto(proto.host_program_shape()).value());
    return xla::HloModule::CreateFromProto(proto, config).value()->ToString();
  }

  bool HasNode(const std::string& program, absl::string_view guid) {
    return absl::StrContains(PlanOf(program), absl::StrCat("= ", guid, "("));
  }

  // Expects that a marked call becomes the node `guid`, and an unmarked one does not. Both have the evaluator's
  // results.
  void ExpectNode(const std::string& operation, absl::string_view guid, const std::vector<xla::Shape>& shapes,
                  const Body& body, double tolerance, const std::vector<xla::Literal>* arguments = nullptr) {
    SCOPED_TRACE(operation);
    const std::string marked = Program(operation, shapes, body);
    const std::string plain = Program("another", shapes, body);
    EXPECT_TRUE(HasNode(marked, guid)) << PlanOf(marked);
    EXPECT_FALSE(HasNode(plain, guid)) << PlanOf(plain);
    for (const std::string& program : {marked, plain}) {
      if (arguments == nullptr) {
        ExpectSameAsEvaluator(program, tolerance);
      } else {
        ExpectSameAsEvaluator(program, *arguments, tolerance);
      }
    }
  }
  // Expects that a marked call does not become the node `guid`: its plain computation is lowered.
  void ExpectNoNode(const std::string& operation, absl::string_view guid, const std::vector<xla::Shape>& shapes,
                    const Body& body, double tolerance) {
    SCOPED_TRACE(operation);
    const std::string program = Program(operation, shapes, body);
    EXPECT_FALSE(HasNode(program, guid)) << PlanOf(program);
    ExpectSameAsEvaluator(program, tolerance);
  }
};

TEST_P(CompositesTest, FunctionsOfOneOperand) {
  const std::pair<const char*, XlaOp (*)(XlaOp)> functions[] = {{"erf", compat::unary::Erf},
                                                                {"erfc", compat::unary::Erfc},
                                                                {"erf_inv", compat::unary::ErfInv},
                                                                {"lgamma", compat::unary::Lgamma},
                                                                {"sinh", compat::unary::Sinh}};
  const char* guids[] = {"erf_fwd", "erfc_fwd", "erfinv_fwd", "gammaln_fwd", "sinh_fwd"};
  for (size_t i = 0; i < std::size(guids); ++i) {
    const Body body = [&](const Values& v) { return functions[i].second(v[0]); };
    const std::string operation = absl::StrCat("unary ", functions[i].first);
    ExpectNode(operation, absl::StrCat(guids[i], "_f32"), {Float({3, 4, 2, 1, 3, 2})}, body, 2e-4);
    // Scalars and unknown functions are lowered as plain computations.
    ExpectNoNode(operation, absl::StrCat(guids[i], "_f32"), {Float({})}, body, 2e-4);
  }
  ExpectNoNode("unary cube", "erf_fwd_f32", {Float({4})}, [](const Values& v) { return v[0] * v[0] * v[0]; }, 1e-5);
}

TEST_P(CompositesTest, Softmax) {
  for (const xla::Shape& shape : {Float({5, 7}), Float({9}), Float({2, 3, 1, 2, 2, 4})}) {
    ExpectNode("softmax", "softmax_fwd_f32", {shape}, [](const Values& v) { return xla::Exp(LogSoftmax(v[0])); }, 1e-5);
    ExpectNode("log_softmax", "logsoftmax_fwd_f32", {shape}, [](const Values& v) { return LogSoftmax(v[0]); }, 1e-5);
    ExpectNode(
        "softmax_gradient", "softmax_bwd_f32", {shape, shape},
        [](const Values& v) { return (v[0] - ToRows(ReduceRows(v[0] * v[1], false), v[0])) * v[1]; }, 1e-5);
  }
  const xla::Shape bf16 = xla::ShapeUtil::MakeShape(xla::BF16, {5, 7});
  ExpectNode("softmax", "softmax_fwd_bf16", {bf16}, [](const Values& v) { return xla::Exp(LogSoftmax(v[0])); }, 0.05);
}

// Only the kernel's name is known, so the lowering uses the kernel only under HPU_GAUDI_UNPROVEN.
TEST_P(CompositesTest, UncertainKernelsNeedASetting) {
  const Body body = [](const Values& v) { return v[0] - ToRows(ReduceRows(v[0], false), v[0]) * xla::Exp(v[1]); };
  ExpectNoNode("log_softmax_gradient", "logsoftmax_bwd_f32", {Float({5, 7}), Float({5, 7})}, body, 1e-5);
  Set("HPU_GAUDI_UNPROVEN", "1");
  ExpectNode("log_softmax_gradient", "logsoftmax_bwd_f32", {Float({5, 7}), Float({5, 7})}, body, 1e-5);
}

TEST_P(CompositesTest, SparseCrossEntropy) {
  const std::vector<xla::Shape> shapes = {Float({5, 7}), xla::ShapeUtil::MakeShape(xla::S32, {5})};
  std::vector<xla::Literal> arguments = RandomArguments(*ParseProgram(Program("", shapes, SparseCrossEntropy)));
  // The last two labels are not classes.
  arguments[1] = xla::LiteralUtil::CreateR1<int32_t>({0, 6, 3, 7, -1});
  ExpectNode("sparse_cross_entropy", "softmax_cross_entropy_bwd_f32", shapes, SparseCrossEntropy, 1e-5, &arguments);
  // Labels of another type are lowered as plain computations.
  const Body wide = [](const Values& v) { return SparseCrossEntropy({v[0], xla::ConvertElementType(v[1], xla::S32)}); };
  ExpectNoNode("sparse_cross_entropy", "softmax_cross_entropy_bwd_f32",
               {Float({5, 7}), xla::ShapeUtil::MakeShape(xla::S64, {5})}, wide, 1e-5);
}

TEST_P(CompositesTest, Gelu) {
  const xla::Shape shape = Float({4, 3, 5});
  const auto of = [](XlaOp (*function)(XlaOp)) { return [=](const Values& v) { return function(v[0]); }; };
  const auto has_gelu = [&](const std::string& program) { return absl::StrContains(PlanOf(program), "gelu_fwd_f32("); };
  for (const auto& [form, function] : {std::pair("gelu tanh", Gelu), std::pair("gelu exact", ExactGelu)}) {
    const std::string program = Program(form, {shape}, of(function));
    EXPECT_TRUE(has_gelu(program)) << PlanOf(program);
    ExpectSameAsEvaluator(program, 1e-4);
  }
  ExpectNode("gelu_gradient tanh", "gelu_bwd_f32", {shape, shape}, GeluGradient, 1e-4);
  ExpectNoNode("gelu_gradient exact", "gelu_bwd_f32", {shape, shape}, GeluGradient, 1e-4);
}

TEST_P(CompositesTest, LayerNorm) {
  for (const std::vector<int64_t>& rows : {std::vector<int64_t>{}, {5}, {2, 3, 4}}) {
    std::vector<int64_t> sizes = rows;
    sizes.push_back(8);
    for (const xla::PrimitiveType type : {xla::F32, xla::BF16}) {
      const std::string program =
          Program("layer_norm 0.001", {xla::ShapeUtil::MakeShape(type, sizes), Float({8}), Float({8})}, LayerNorm);
      EXPECT_TRUE(absl::StrContains(PlanOf(program), "= layer_norm_fwd_")) << PlanOf(program);
      ExpectSameAsEvaluator(program, type == xla::F32 ? 1e-4 : 0.02);
    }
    const std::string gradient =
        Program("layer_norm_gradient 0.001", {Float(sizes), Float(sizes), Float(rows), Float(rows), Float({8})},
                LayerNormGradient);
    EXPECT_TRUE(absl::StrContains(PlanOf(gradient), "= layer_norm_bwd_f32(")) << PlanOf(gradient);
    ExpectSameAsEvaluator(gradient, 1e-4);
  }
  ExpectNoNode("layer_norm x", "layer_norm_fwd_f32", {Float({5, 8}), Float({8}), Float({8})}, LayerNorm, 1e-4);
}

// A call in the body of a loop that the host drives.
TEST_P(CompositesTest, InALoop) {
  const std::string program = R"(
HloModule m
plain { x = f32[3] parameter(0)
  ROOT y = f32[3] negate(x) }
condition { s = (f32[3], f32[]) parameter(0)
  n = f32[] get-tuple-element(s), index=1
  limit = f32[] constant(100)
  ROOT r = pred[] compare(n, limit), direction=LT }
body { s = (f32[3], f32[]) parameter(0)
  x = f32[3] get-tuple-element(s), index=0
  n = f32[] get-tuple-element(s), index=1
  y = f32[3] call(x), to_apply=plain, frontend_attributes={hpu_operation="softmax"}
  m = f32[] add(n, n)
  ROOT r = (f32[3], f32[]) tuple(y, m) }
ENTRY e { x = f32[3] parameter(0)
  n = f32[] parameter(1)
  s = (f32[3], f32[]) tuple(x, n)
  l = (f32[3], f32[]) while(s), condition=condition, body=body
  ROOT y = f32[3] get-tuple-element(l), index=0 }
)";
  const auto module = ParseProgram(program);
  const auto got =
      Run(*module, ArgumentsOf(xla::LiteralUtil::CreateR1<float>({1, 2, 3}), xla::LiteralUtil::CreateR0<float>(60)));
  ASSERT_TRUE(got.ok()) << got.status();
  // One iteration.
  ExpectNear((*got)[0], xla::LiteralUtil::CreateR1<float>({0.09003057f, 0.24472848f, 0.66524094f}), 1e-5);
}

constexpr char kDraw[] =
    "HloModule m\nplain { k = u64[1] parameter(0)\n c = u64[2] parameter(1)\n z = $0[] constant(0)\n"
    "ROOT y = $0[4096] broadcast(z), dimensions={} }\n"
    "ENTRY e { k = u64[1] parameter(0)\n c = u64[2] parameter(1)\n"
    "ROOT y = $0[4096] call(k, c), to_apply=plain, frontend_attributes={hpu_operation=\"random $1\"}, "
    "metadata={op_name=\"dropout/random_uniform\"} }";

class CardRandomTest : public ProgramTest {
 protected:
  std::vector<float> Draw(const char* type, const char* distribution, uint64_t key, uint64_t counter) {
    const auto module = ParseProgram(absl::Substitute(kDraw, type, distribution));
    auto got = Run(*module, ArgumentsOf(xla::LiteralUtil::CreateR1<uint64_t>({key}),
                                        xla::LiteralUtil::CreateR1<uint64_t>({counter, 0})));
    EXPECT_TRUE(got.ok()) << got.status();
    if (!got.ok()) return std::vector<float>(4096);
    const xla::Literal numbers = (*got)[0].Convert(xla::F32).value();
    return std::vector<float>(numbers.data<float>().begin(), numbers.data<float>().end());
  }
  static double Mean(const std::vector<float>& numbers, double power) {
    double sum = 0;
    for (const float number : numbers) sum += std::pow(number, power);
    return sum / static_cast<double>(numbers.size());
  }
};

TEST_P(CardRandomTest, DrawsNeedASetting) {
  ExpectRefused(absl::Substitute(kDraw, "f32", "uniform"), "{{node dropout/random_uniform}}");
  ExpectRefused(absl::Substitute(kDraw, "f32", "uniform"), "set HPU_GAUDI_UNPROVEN=1");
}

TEST_P(CardRandomTest, DrawsHaveTheirDistribution) {
  Set("HPU_GAUDI_UNPROVEN", "1");
  for (const char* type : {"f32", "bf16"}) {
    const std::vector<float> uniform = Draw(type, "uniform", 7, 1);
    for (const float number : uniform) ASSERT_TRUE(number >= 0 && number < 1) << number;
    EXPECT_NEAR(Mean(uniform, 1), 0.5, 0.03);
    EXPECT_NEAR(Mean(uniform, 2), 1.0 / 3, 0.03);
    const std::vector<float> normal = Draw(type, "normal", 7, 1);
    EXPECT_NEAR(Mean(normal, 1), 0, 0.08);
    EXPECT_NEAR(Mean(normal, 2), 1, 0.12);
  }
  // Each key and each counter has a sequence of its own.
  const std::vector<float> first = Draw("f32", "uniform", 7, 1);
  EXPECT_EQ(first, Draw("f32", "uniform", 7, 1));
  EXPECT_NE(first, Draw("f32", "uniform", 7, 1 + 1024));
  EXPECT_NE(first, Draw("f32", "uniform", 7, uint64_t{1} << 40));
  EXPECT_NE(first, Draw("f32", "uniform", uint64_t{7} << 32, 1));
}

HPU_GAUDI_SUITE(CompositesTest);
HPU_GAUDI_SUITE(CardRandomTest);

}  // namespace composites_test
}  // namespace hpu::gaudi
