// Every elementwise opcode for every type and rank, against XLA's evaluator.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "plugin/testing/gaudi_program.h"

namespace hpu::gaudi {
namespace {

enum class Class { kFloat, kSigned, kUnsigned, kBoolean };

struct ElementType {
  const char* name;
  Class kind;
  double tolerance;
};

constexpr ElementType kTypes[] = {
    {"f32", Class::kFloat, 1e-5}, {"bf16", Class::kFloat, 2e-2}, {"f16", Class::kFloat, 3e-3},
    {"s8", Class::kSigned, 0},    {"s16", Class::kSigned, 0},    {"s32", Class::kSigned, 0},
    {"s64", Class::kSigned, 0},   {"u8", Class::kUnsigned, 0},   {"u16", Class::kUnsigned, 0},
    {"u32", Class::kUnsigned, 0}, {"u64", Class::kUnsigned, 0},  {"pred", Class::kBoolean, 0}};

// By rank. Some dimensions have size 1.
constexpr const char* kDimensions[] = {"", "3", "2,3", "2,1,3", "2,3,1,2", "2,1,2,1,3", "2,1,2,1,2,2", "1,2,1,2,1,2,2"};

std::vector<absl::string_view> FunctionsOfOneOperand(Class kind) {
  switch (kind) {
    case Class::kFloat:
      return {"abs",
              "negate",
              "ceil",
              "floor",
              "round-nearest-even",
              "round-nearest-afz",
              "exponential",
              "sine",
              "cosine",
              "tanh",
              "logistic",
              "sign",
              "cbrt",
              "exponential-minus-one",
              "log",
              "sqrt",
              "rsqrt",
              "tan",
              "log-plus-one"};
    case Class::kSigned:
      return {"abs", "negate", "sign", "not", "popcnt"};
    case Class::kUnsigned:
      return {"negate", "not", "popcnt", "count-leading-zeros"};
    case Class::kBoolean:
      return {"not"};
  }
  return {};
}

std::vector<absl::string_view> FunctionsOfTwoOperands(Class kind) {
  switch (kind) {
    case Class::kFloat:
      return {"add", "subtract", "multiply", "divide", "maximum", "minimum", "atan2", "remainder", "power"};
    case Class::kSigned:
    case Class::kUnsigned:
      return {"add",
              "subtract",
              "multiply",
              "divide",
              "remainder",
              "maximum",
              "minimum",
              "and",
              "or",
              "xor",
              "shift-left",
              "shift-right-arithmetic",
              "shift-right-logical"};
    case Class::kBoolean:
      return {"and", "or", "xor", "maximum", "minimum"};
  }
  return {};
}

// A program with a result for each added instruction. Operands: arguments x and y, a vector v broadcast to their shape,
// and an array m of booleans.
class ProgramText {
 public:
  ProgramText(const char* type, const char* dimensions)
      : shape_(absl::StrCat(type, "[", dimensions, "]")), mask_(absl::StrCat("pred[", dimensions, "]")) {
    const std::vector<std::string> sizes = absl::StrSplit(dimensions, ',', absl::SkipEmpty());
    const std::string vector = sizes.empty() ? absl::StrCat(type, "[]") : absl::StrCat(type, "[", sizes.back(), "]");
    const std::string last = sizes.empty() ? "" : absl::StrCat(sizes.size() - 1);
    text_ = absl::Substitute(
        "HloModule m\nENTRY e { x = $0 parameter(0)\n y = $0 parameter(1)\n b = $1 parameter(2)\n"
        "v = $0 broadcast(b), dimensions={$2}\n m = $3 parameter(3)\n",
        shape_, vector, last, mask_);
  }

  const std::string& shape() const { return shape_; }
  const std::string& mask() const { return mask_; }

  void Add(const std::string& shape, const std::string& instruction) {
    const std::string name = absl::StrCat("r", names_.size());
    absl::StrAppend(&text_, name, " = ", shape, " ", instruction, "\n");
    names_.push_back(name);
    shapes_.push_back(shape);
  }

  std::string Finish() const {
    return absl::StrCat(text_, "ROOT r = (", absl::StrJoin(shapes_, ", "), ") tuple(", absl::StrJoin(names_, ", "),
                        ") }");
  }

 private:
  const std::string shape_, mask_;
  std::string text_;
  std::vector<std::string> names_, shapes_;
};

std::string OpcodeProgram(const ElementType& type, const char* dimensions, const std::vector<const char*>& targets) {
  ProgramText program(type.name, dimensions);
  for (const absl::string_view opcode : FunctionsOfOneOperand(type.kind)) {
    program.Add(program.shape(), absl::StrCat(std::string(opcode), "(x)"));
  }
  for (const absl::string_view opcode : FunctionsOfTwoOperands(type.kind)) {
    program.Add(program.shape(), absl::StrCat(std::string(opcode), "(x, y)"));
    program.Add(program.shape(), absl::StrCat(std::string(opcode), "(x, v)"));
  }
  for (const char* direction : {"EQ", "NE", "LT", "LE", "GT", "GE"}) {
    program.Add(program.mask(), absl::StrCat("compare(x, v), direction=", direction));
  }
  program.Add(program.shape(), "select(m, x, v)");
  if (type.kind != Class::kBoolean) program.Add(program.shape(), "clamp(y, x, v)");
  if (type.kind == Class::kFloat) {
    program.Add(program.mask(), "is-finite(x)");
    for (const char* precision : {"exponent_bits=8, mantissa_bits=7", "exponent_bits=5, mantissa_bits=10",
                                  "exponent_bits=4, mantissa_bits=2"}) {
      program.Add(program.shape(), absl::StrCat("reduce-precision(x), ", precision));
    }
  }
  for (const char* target : targets) {
    program.Add(absl::StrCat(target, "[", dimensions, "]"), "convert(x)");
  }
  return program.Finish();
}

class OpcodesTest : public ProgramTest {};

TEST_P(OpcodesTest, EveryTypeAndRank) {
  const bool has_f16 = absl::StrContains(GetParam(), "1.18");
  std::vector<const char*> names;
  for (const ElementType& type : kTypes) {
    if (has_f16 || absl::string_view(type.name) != "f16") names.push_back(type.name);
  }
  for (const ElementType& type : kTypes) {
    if (!has_f16 && absl::string_view(type.name) == "f16") {
      ExpectRefused("HloModule m\nENTRY e { x = f16[3] parameter(0)\n ROOT r = f16[3] add(x, x) }", "f16");
      continue;
    }
    for (const char* dimensions : kDimensions) {
      ExpectSameAsEvaluator(OpcodeProgram(type, dimensions, names), type.tolerance);
    }
  }
}

TEST_P(OpcodesTest, FloatsAtTheirLimits) {
  constexpr char kValues[] = "{0, -0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, 8388609, -8388609, inf, -inf, nan}";
  std::string program =
      absl::Substitute("HloModule m\nENTRY e { a = f32[15] parameter(0)\n x = f32[15] constant($0)\n", kValues);
  std::vector<std::string> names, shapes;
  // Adding an argument, which is 0, keeps XLA from folding the constant.
  absl::StrAppend(&program, "u = f32[15] add(x, a)\n");
  for (const char* opcode :
       {"abs", "negate", "ceil", "floor", "round-nearest-even", "round-nearest-afz", "sign", "sqrt"}) {
    absl::StrAppend(&program, "r", names.size(), " = f32[15] ", opcode, "(u)\n");
    names.push_back(absl::StrCat("r", names.size()));
    shapes.push_back("f32[15]");
  }
  absl::StrAppend(&program,
                  "z = f32[15,15] broadcast(u), dimensions={0}\nn = f32[15,15] broadcast(u), dimensions={1}\n");
  for (const char* opcode : {"add", "subtract", "multiply", "divide", "maximum", "minimum"}) {
    absl::StrAppend(&program, "r", names.size(), " = f32[15,15] ", opcode, "(z, n)\n");
    names.push_back(absl::StrCat("r", names.size()));
    shapes.push_back("f32[15,15]");
  }
  for (const char* direction : {"EQ", "NE", "LT", "LE", "GT", "GE"}) {
    absl::StrAppend(&program, "r", names.size(), " = pred[15,15] compare(z, n), direction=", direction, "\n");
    names.push_back(absl::StrCat("r", names.size()));
    shapes.push_back("pred[15,15]");
  }
  absl::StrAppend(&program, "ROOT r = (", absl::StrJoin(shapes, ", "), ") tuple(", absl::StrJoin(names, ", "), ") }");
  xla::Literal zeros(xla::ShapeUtil::MakeShape(xla::F32, {15}));
  zeros.PopulateWithValue(0.0f);
  ExpectSameAsEvaluator(program, ArgumentsOf(zeros), 0);
}

HPU_GAUDI_SUITE(OpcodesTest);

}  // namespace
}  // namespace hpu::gaudi
