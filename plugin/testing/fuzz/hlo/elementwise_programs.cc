// Random programs of elementwise opcodes.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "plugin/testing/fuzz/hlo/random_program.h"

namespace hpu::fuzz {
namespace {

using Opcodes = std::vector<const char*>;

// Opcodes whose results the kernels compute exactly.
const Opcodes& ExactUnary(TypeClass type_class) {
  static const auto* const floats =
      new Opcodes{"abs", "negate", "ceil", "floor", "round-nearest-even", "round-nearest-afz", "sign", "copy"};
  // Without count-leading-zeros: XLA's evaluator returns -32 for negative numbers of 32 bits. IntegersTest has counts.
  static const auto* const integers = new Opcodes{"abs", "negate", "sign", "not", "popcnt"};
  static const auto* const unsigned_integers = new Opcodes{"negate", "not", "popcnt", "count-leading-zeros"};
  static const auto* const booleans = new Opcodes{"not"};
  switch (type_class) {
    case TypeClass::kFloat:
      return *floats;
    case TypeClass::kSigned:
      return *integers;
    case TypeClass::kUnsigned:
      return *unsigned_integers;
    case TypeClass::kBoolean:
      break;
  }
  return *booleans;
}

const Opcodes& Transcendental() {
  static const auto* const opcodes = new Opcodes{"exponential", "exponential-minus-one",
                                                 "log",         "log-plus-one",
                                                 "sqrt",        "rsqrt",
                                                 "cbrt",        "sine",
                                                 "cosine",      "tan",
                                                 "tanh",        "logistic"};
  return *opcodes;
}

const Opcodes& Binary(TypeClass type_class) {
  static const auto* const floats = new Opcodes{"add", "subtract", "multiply", "divide", "maximum", "minimum"};
  static const auto* const integers = new Opcodes{"add",
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
  static const auto* const booleans = new Opcodes{"and", "or", "xor", "maximum", "minimum"};
  switch (type_class) {
    case TypeClass::kFloat:
      return *floats;
    case TypeClass::kSigned:
    case TypeClass::kUnsigned:
      return *integers;
    case TypeClass::kBoolean:
      break;
  }
  return *booleans;
}

// An operand of the given dimensions: an argument, or the broadcast of one with fewer dimensions.
std::string Operand(const ElementType& type, const Dimensions& dimensions, Values values, RandomChoice& random,
                    ProgramText* text) {
  if (!random.OneIn(3)) return text->Argument(ShapeText(type, dimensions), values);
  const auto rank = static_cast<int64_t>(dimensions.size());
  const Dimensions kept = random.Subset(rank, random.Between(0, rank));
  Dimensions sizes;
  for (const int64_t dimension : kept) sizes.push_back(dimensions[dimension]);
  const std::string small = text->Argument(ShapeText(type, sizes), values);
  return text->Add(ShapeText(type, dimensions), absl::StrCat("broadcast(", small, "), dimensions={", Join(kept), "}"));
}

}  // namespace

RandomProgram UnaryProgram(RandomChoice& random) {
  const bool is_exact = random.OneIn(2);
  const ElementType& type = is_exact ? random.Type() : random.TypeOf({TypeClass::kFloat});
  const Dimensions dimensions = random.ShapeOrEmpty(0, kMaxRank);
  ProgramText text;
  const std::string x = Operand(type, dimensions, is_exact ? Values::kEdges : Values::kSmall, random, &text);
  if (type.type_class == TypeClass::kFloat && random.OneIn(12)) {
    text.Add(ShapeText(TypeNamed("pred"), dimensions), absl::StrCat("is-finite(", x, ")"));
    return text.Finish("is-finite", 0);
  }
  const std::string opcode = random.Of(is_exact ? ExactUnary(type.type_class) : Transcendental());
  text.Add(ShapeText(type, dimensions), absl::StrCat(opcode, "(", x, ")"));
  return text.Finish(opcode, is_exact ? 0 : type.tolerance);
}

RandomProgram BinaryProgram(RandomChoice& random) {
  const ElementType& type = random.Type();
  const bool is_transcendental = type.type_class == TypeClass::kFloat && random.OneIn(3);
  const Dimensions dimensions = random.ShapeOrEmpty(0, kMaxRank);
  const Values values = is_transcendental ? Values::kSmall : Values::kEdges;
  ProgramText text;
  const std::string x = Operand(type, dimensions, values, random, &text);
  const std::string y = random.OneIn(10) ? x : Operand(type, dimensions, values, random, &text);
  static const auto* const transcendental = new Opcodes{"atan2", "remainder", "power"};
  const std::string opcode = random.Of(is_transcendental ? *transcendental : Binary(type.type_class));
  text.Add(ShapeText(type, dimensions), absl::StrCat(opcode, "(", x, ", ", y, ")"));
  return text.Finish(opcode, is_transcendental ? type.tolerance : 0);
}

RandomProgram CompareProgram(RandomChoice& random) {
  const ElementType& type = random.Type();
  const Dimensions dimensions = random.ShapeOrEmpty(0, kMaxRank);
  ProgramText text;
  const std::string x = Operand(type, dimensions, Values::kEdges, random, &text);
  const std::string y = Operand(type, dimensions, Values::kEdges, random, &text);
  const std::string direction = random.Of(Opcodes{"EQ", "NE", "LT", "LE", "GT", "GE"});
  const bool is_total = type.type_class == TypeClass::kFloat && random.OneIn(4);
  text.Add(ShapeText(TypeNamed("pred"), dimensions),
           absl::StrCat("compare(", x, ", ", y, "), direction=", direction, is_total ? ", type=TOTALORDER" : ""));
  return text.Finish("compare", 0);
}

RandomProgram TernaryProgram(RandomChoice& random) {
  const ElementType& type = random.Type();
  const Dimensions dimensions = random.ShapeOrEmpty(0, kMaxRank);
  const ElementType& mask = TypeNamed("pred");
  ProgramText text;
  const std::string x = Operand(type, dimensions, Values::kEdges, random, &text);
  const std::string y = Operand(type, dimensions, Values::kEdges, random, &text);
  if (type.type_class == TypeClass::kBoolean || random.OneIn(2)) {
    const std::string condition = Operand(mask, dimensions, Values::kSmall, random, &text);
    text.Add(ShapeText(type, dimensions), absl::StrCat("select(", condition, ", ", x, ", ", y, ")"));
    return text.Finish("select", 0);
  }
  const std::string z = Operand(type, dimensions, Values::kEdges, random, &text);
  text.Add(ShapeText(type, dimensions), absl::StrCat("clamp(", x, ", ", z, ", ", y, ")"));
  return text.Finish("clamp", 0);
}

RandomProgram ConvertProgram(RandomChoice& random) {
  const ElementType& from = random.Type();
  const ElementType& to = random.Type();
  const Dimensions dimensions = random.ShapeOrEmpty(0, kMaxRank);
  ProgramText text;
  const std::string x = text.Argument(ShapeText(from, dimensions), Values::kEdges);
  text.Add(ShapeText(to, dimensions), absl::StrCat("convert(", x, ")"));
  return text.Finish("convert", 0);
}

// If the types' widths differ, the array of the narrower type has one more dimension, the last: the parts of an element
// of the wider type.
RandomProgram BitcastProgram(RandomChoice& random) {
  static const auto* const classes =
      new std::vector<TypeClass>{TypeClass::kFloat, TypeClass::kSigned, TypeClass::kUnsigned};
  const ElementType& from = random.TypeOf(*classes);
  const ElementType& to = random.TypeOf(*classes);
  Dimensions source = random.Shape(0, kMaxRank - 1);
  Dimensions target = source;
  if (from.bits < to.bits) source.push_back(to.bits / from.bits);
  if (from.bits > to.bits) target.push_back(from.bits / to.bits);
  ProgramText text;
  // Bits of random integers may be denormal floats, which kernels may flush.
  const bool to_float = to.type_class == TypeClass::kFloat && from.type_class != TypeClass::kFloat;
  const std::string x = text.Argument(ShapeText(from, source), to_float ? Values::kSmall : Values::kEdges);
  text.Add(ShapeText(to, target), absl::StrCat("bitcast-convert(", x, ")"));
  return text.Finish("bitcast-convert", 0);
}

RandomProgram ReducePrecisionProgram(RandomChoice& random) {
  const ElementType& type = random.TypeOf({TypeClass::kFloat});
  const Dimensions dimensions = random.ShapeOrEmpty(0, kMaxRank);
  ProgramText text;
  const std::string x = text.Argument(ShapeText(type, dimensions), Values::kEdges);
  text.Add(ShapeText(type, dimensions), absl::StrCat("reduce-precision(", x, "), exponent_bits=", random.Between(2, 8),
                                                     ", mantissa_bits=", random.Between(1, 23)));
  return text.Finish("reduce-precision", 0);
}

}  // namespace hpu::fuzz
