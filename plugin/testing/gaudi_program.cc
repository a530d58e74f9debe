#include "plugin/testing/gaudi_program.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <random>
#include <utility>

#include "plugin/backends/gaudi/lowerings/hlo_preparation.h"
#include "plugin/backends/gaudi/lowerings/lowering.h"
#include "plugin/base/status_macros.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/parser/hlo_parser.h"
#include "xla/hlo/transforms/expanders/rng_bit_generator_expander.h"
#include "xla/layout_util.h"
#include "xla/primitive_util.h"
#include "xla/service/batchnorm_expander.h"
#include "xla/service/dynamic_dimension_inference.h"
#include "xla/shape_util.h"

namespace hpu::gaudi {
namespace {

xla::Literal RandomLiteral(const xla::Shape& shape, std::mt19937* random) {
  xla::Literal literal(shape);
  const xla::PrimitiveType type = shape.element_type();
  std::uniform_real_distribution<double> number(-2, 2);
  std::uniform_int_distribution<int64_t> integer(-9, 9);
  for (int64_t i = 0; i < xla::ShapeUtil::ElementsIn(shape); ++i) {
    const std::vector<int64_t> index = xla::IndexUtil::LinearIndexToMultidimensionalIndex(shape, i);
    if (type == xla::PRED) {
      literal.Set<bool>(index, integer(*random) > 0);
    } else if (xla::primitive_util::IsFloatingPointType(type)) {
      EXPECT_TRUE(literal.SetFromDouble(index, number(*random)).ok());
    } else {
      const int64_t value = integer(*random);
      EXPECT_TRUE(
          literal.SetIntegralAsS64(index, xla::primitive_util::IsUnsignedIntegralType(type) ? value + 9 : value).ok());
    }
  }
  return literal;
}

hal::Program ProgramOf(const xla::HloModule& module) {
  return hal::Program{"program", module.ToProto().SerializeAsString()};
}

}  // namespace

std::unique_ptr<xla::HloModule> ParseProgram(absl::string_view hlo) {
  auto parsed = xla::ParseAndReturnUnverifiedModule(hlo);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  std::unique_ptr<xla::HloModule> module = *std::move(parsed);
  xla::HloComputation* entry = module->entry_computation();
  if (!entry->root_instruction()->shape().IsTuple()) {
    entry->set_root_instruction(entry->AddInstruction(xla::HloInstruction::CreateTuple({entry->root_instruction()})),
                                /*accept_different_shape=*/true);
    xla::HloModuleConfig config = module->config();
    config.SetComputationLayoutIfExists(entry->ComputeProgramShape());
    module->set_config(config);
  }
  return module;
}

std::vector<xla::Literal> RandomArguments(const xla::HloModule& module, int seed) {
  std::mt19937 random(seed);
  std::vector<xla::Literal> arguments;
  for (const xla::HloInstruction* parameter : module.entry_computation()->parameter_instructions()) {
    arguments.push_back(RandomLiteral(parameter->shape(), &random));
  }
  return arguments;
}

std::vector<xla::Literal> Evaluate(const xla::HloModule& module, const std::vector<xla::Literal>& arguments) {
  const std::unique_ptr<xla::HloModule> copy = module.Clone();
  // Expands instructions that the evaluator does not support.
  EXPECT_TRUE(xla::BatchNormExpander(true, true, true).Run(copy.get()).ok());
  EXPECT_TRUE(xla::RngBitGeneratorExpander(xla::RNG_PHILOX).Run(copy.get()).ok());
  std::vector<const xla::Literal*> pointers;
  for (const xla::Literal& argument : arguments) pointers.push_back(&argument);
  xla::HloEvaluator evaluator;
  auto dynamic_dimensions = xla::DynamicDimensionInference::Run(copy.get());
  if (dynamic_dimensions.ok()) evaluator.set_dynamic_dimension_inference(&*dynamic_dimensions);
  auto result = evaluator.Evaluate(*copy, pointers);
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return {};
  std::vector<xla::Literal> elements = result->DecomposeTuple();
  for (xla::Literal& element : elements) {
    element = element.Relayout(xla::LayoutUtil::GetDefaultLayoutForShape(element.shape()));
  }
  return elements;
}

void ExpectNear(const xla::Literal& got, const xla::Literal& want, double tolerance) {
  ASSERT_TRUE(xla::ShapeUtil::Compatible(got.shape(), want.shape())) << got.shape() << " " << want.shape();
  if (!xla::primitive_util::IsFloatingPointType(want.shape().element_type())) {
    EXPECT_EQ(got, want);
    return;
  }
  double largest = 1e-3;
  double apart = 0;
  for (int64_t i = 0; i < xla::ShapeUtil::ElementsIn(want.shape()); ++i) {
    const std::vector<int64_t> index = xla::IndexUtil::LinearIndexToMultidimensionalIndex(want.shape(), i);
    const double a = got.GetAsDouble(index).value();
    const double b = want.GetAsDouble(index).value();
    if (!std::isfinite(a) || !std::isfinite(b)) {
      ASSERT_TRUE(std::isnan(b) ? std::isnan(a) : a == b) << "element " << i << " is " << a << " instead of " << b;
      continue;
    }
    largest = std::max(largest, std::abs(b));
    apart = std::max(apart, std::abs(a - b));
  }
  EXPECT_LE(apart, tolerance * largest) << "got " << got.ToString().substr(0, 500) << "\nwant "
                                        << want.ToString().substr(0, 500);
}

absl::StatusOr<std::shared_ptr<const hal::Recipe>> ProgramTest::Compile(const xla::HloModule& module) {
  return device().Compile(ProgramOf(module));
}

absl::StatusOr<std::vector<xla::Literal>> ProgramTest::Launch(const std::shared_ptr<const hal::Recipe>& recipe,
                                                              const xla::HloModule& module,
                                                              const std::vector<xla::Literal>& arguments) {
  const auto stream = Stream();
  std::vector<std::unique_ptr<hal::Memory>> memory;
  std::vector<std::unique_ptr<hal::HostBuffer>> hosts;
  std::vector<hal::DeviceAddress> addresses, results;
  for (const xla::Literal& argument : arguments) {
    const uint64_t bytes = argument.size_bytes();
    addresses.push_back(0);
    if (bytes == 0) continue;
    memory.push_back(Memory(bytes));
    addresses.back() = memory.back()->address();
    hosts.push_back(Host(bytes));
    std::memcpy(hosts.back()->data(), argument.untyped_data(), bytes);
    HPU_RETURN_IF_ERROR(stream->CopyToDevice(hosts.back()->data(), addresses.back(), bytes));
  }
  for (const hal::ResultSpec& result : recipe->results()) {
    results.push_back(result.aliased_argument >= 0 ? addresses[result.aliased_argument] : 0);
    if (result.aliased_argument >= 0 || result.spec.bytes == 0) continue;
    memory.push_back(Memory(result.spec.bytes));
    results.back() = memory.back()->address();
  }
  hal::LaunchArguments launch{addresses, results, 0};
  if (recipe->workspace_bytes() > 0) {
    memory.push_back(Memory(recipe->workspace_bytes()));
    launch.workspace = memory.back()->address();
  }
  HPU_RETURN_IF_ERROR(stream->Launch(recipe, launch));
  HPU_RETURN_IF_ERROR(stream->Synchronize());
  std::vector<xla::Literal> literals;
  const xla::Shape& shape = module.entry_computation()->root_instruction()->shape();
  for (size_t i = 0; i < results.size(); ++i) {
    xla::Literal literal(xla::LayoutUtil::GetWithDefaultLayout(shape.tuple_shapes(static_cast<int>(i))));
    const uint64_t bytes = literal.size_bytes();
    if (bytes > 0) std::memcpy(literal.untyped_data(), Read(results[i], bytes).data(), bytes);
    literals.push_back(std::move(literal));
  }
  return literals;
}

absl::StatusOr<std::vector<xla::Literal>> ProgramTest::Run(const xla::HloModule& module,
                                                           const std::vector<xla::Literal>& arguments) {
  HPU_ASSIGN_OR_RETURN(const std::shared_ptr<const hal::Recipe> recipe, Compile(module));
  return Launch(recipe, module, arguments);
}

void ProgramTest::ExpectSameAsEvaluator(absl::string_view hlo, double tolerance) {
  ExpectSameAsEvaluator(hlo, RandomArguments(*ParseProgram(hlo)), tolerance);
}

void ProgramTest::ExpectSameAsEvaluator(absl::string_view hlo, const std::vector<xla::Literal>& arguments,
                                        double tolerance) {
  const std::unique_ptr<xla::HloModule> module = ParseProgram(hlo);
  const auto got = Run(*module, arguments);
  ASSERT_TRUE(got.ok()) << got.status() << "\n" << hlo;
  const std::vector<xla::Literal> want = Evaluate(*module, arguments);
  ASSERT_EQ(got->size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    SCOPED_TRACE(absl::StrCat("result ", i, " of ", hlo));
    ExpectNear((*got)[i], want[i], tolerance);
  }
  if (HasFailure()) std::cerr << PlanOf(hlo);
}

absl::Status ProgramTest::RefusalOf(absl::string_view hlo) {
  const absl::Status status = Compile(*ParseProgram(hlo)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  return status;
}

void ProgramTest::ExpectRefused(absl::string_view hlo, const std::string& part) {
  ExpectError(RefusalOf(hlo), absl::StatusCode::kUnimplemented, part);
}

absl::StatusOr<ProgramTest::LoweredProgram> ProgramTest::Lower(const xla::HloModule& module) {
  const xla::HloModuleProto proto = module.ToProto();
  LoweredProgram lowered;
  HPU_ASSIGN_OR_RETURN(lowered.table, MakeProgramTable(proto));
  HPU_ASSIGN_OR_RETURN(const synapse::DeviceInfo info, runtime().library().GetDeviceInfo(device().id()));
  const PlanTarget target = {info.generation, runtime().library().profile()};
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<xla::HloModule> prepared, PrepareModule(proto, target));
  HPU_ASSIGN_OR_RETURN(lowered.plan, LowerModule(*prepared, lowered.table, target));
  return lowered;
}

std::string ProgramTest::PlanOf(absl::string_view hlo) {
  const absl::StatusOr<LoweredProgram> lowered = Lower(*ParseProgram(hlo));
  return lowered.ok() ? ToText(lowered->plan) : lowered.status().ToString();
}

}  // namespace hpu::gaudi
