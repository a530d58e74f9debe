#include "plugin/passes/patterns/op_text.h"

#include <cctype>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "plugin/base/status_macros.h"

namespace hpu::passes {
namespace {

using Kind = OpExpression::Kind;

// Recursive-descent parser for one line. Each Parse function consumes the parsed text.
class Parser {
 public:
  explicit Parser(std::string_view text) : whole_(text), rest_(text) {}

  absl::StatusOr<OpExpression> ParseExpression() {
    HPU_ASSIGN_OR_RETURN(OpExpression expression, ParsePrimary());
    if (Consume("~")) {
      OpExpression like;
      like.kind = Kind::kName;
      like.name = ConsumeWord();
      expression.reshaped_to.push_back(std::move(like));
    }
    return expression;
  }

  absl::StatusOr<OpStatement> ParseStatement() {
    OpStatement statement;
    statement.shared = Consume("*");
    statement.name = ConsumeWord();
    if (statement.name.empty() || !Consume("=")) return Expected("name = expression");
    HPU_ASSIGN_OR_RETURN(statement.expression, ParseExpression());
    return statement;
  }

  absl::Status ExpectEnd() {
    Skip();
    return rest_.empty() ? absl::OkStatus() : Expected("end of line");
  }

 private:
  absl::StatusOr<OpExpression> ParsePrimary() {
    OpExpression result;
    Skip();
    if (Consume("{")) return ParseAlternatives();
    if (Consume("$")) {
      result.kind = Kind::kCapture;
      result.name = ConsumeWord();
      if (!Consume("(")) return result;
      result.kind = Kind::kOp;
      result.name = absl::StrCat("$", result.name);
      HPU_RETURN_IF_ERROR(ParseArguments(&result));
      return result;
    }
    if (!rest_.empty() && (std::isdigit(rest_[0]) || rest_[0] == '-')) return ParseNumber();
    result.name = ConsumeWord();
    if (result.name.empty()) return Expected("an expression");
    if (result.name == "_") return result;
    result.kind = Consume("(") ? Kind::kOp : Kind::kName;
    if (result.kind == Kind::kOp) HPU_RETURN_IF_ERROR(ParseArguments(&result));
    if (Consume(":") && !absl::SimpleAtoi(ConsumeWord(), &result.output)) return Expected("an output index");
    return result;
  }

  absl::StatusOr<OpExpression> ParseAlternatives() {
    OpExpression result;
    result.kind = Kind::kAlternatives;
    do {
      HPU_ASSIGN_OR_RETURN(OpExpression one, ParseExpression());
      result.args.push_back(std::move(one));
    } while (Consume("|"));
    if (!Consume("}")) return Expected("'|' or '}'");
    return result;
  }

  absl::StatusOr<OpExpression> ParseNumber() {
    size_t size = 1;
    while (size < rest_.size() &&
           (std::isalnum(rest_[size]) || rest_[size] == '.' || (rest_[size] == '-' && rest_[size - 1] == 'e'))) {
      ++size;
    }
    OpExpression result;
    result.kind = Kind::kNumber;
    if (!absl::SimpleAtod(rest_.substr(0, size), &result.number)) return Expected("a number");
    rest_.remove_prefix(size);
    if (!Consume("*")) return result;
    result.kind = Kind::kScaled;
    HPU_ASSIGN_OR_RETURN(OpExpression scaled, ParseExpression());
    result.args.push_back(std::move(scaled));
    return result;
  }

  absl::Status ParseArguments(OpExpression* op) {
    while (!Consume(")")) {
      if (!op->args.empty() && !Consume(",")) return Expected("',' or ')'");
      if (Consume("...")) {
        op->open = true;
        continue;
      }
      HPU_ASSIGN_OR_RETURN(OpExpression argument, ParseExpression());
      op->args.push_back(std::move(argument));
    }
    if (!Consume("[")) return absl::OkStatus();
    do {
      const std::string name = ConsumeWord();
      if (!Consume("=")) return Expected("attr=value");
      const size_t end = rest_.find_first_of(",]");
      if (end == std::string_view::npos) return Expected("']'");
      op->attrs.emplace_back(name, absl::StripAsciiWhitespace(rest_.substr(0, end)));
      rest_.remove_prefix(end);
    } while (Consume(","));
    return Consume("]") ? absl::OkStatus() : Expected("',' or ']'");
  }

  void Skip() { rest_ = absl::StripLeadingAsciiWhitespace(rest_); }

  bool Consume(std::string_view token) {
    Skip();
    return absl::ConsumePrefix(&rest_, token);
  }

  std::string ConsumeWord() {
    Skip();
    size_t size = 0;
    while (size < rest_.size() && (std::isalnum(rest_[size]) || rest_[size] == '_')) ++size;
    const std::string word(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return word;
  }

  absl::Status Expected(std::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("expected ", what, " at '", rest_, "' in '", whole_, "'"));
  }

  const std::string_view whole_;
  absl::string_view rest_;
};

}  // namespace

absl::StatusOr<OpExpression> ParseOpExpression(std::string_view text) {
  Parser parser(text);
  HPU_ASSIGN_OR_RETURN(OpExpression expression, parser.ParseExpression());
  HPU_RETURN_IF_ERROR(parser.ExpectEnd());
  return expression;
}

absl::StatusOr<std::vector<OpStatement>> ParseOpText(std::string_view text) {
  std::vector<OpStatement> statements;
  for (const std::string_view line : absl::StrSplit(text, '\n', absl::SkipWhitespace())) {
    Parser parser(line);
    HPU_ASSIGN_OR_RETURN(OpStatement statement, parser.ParseStatement());
    HPU_RETURN_IF_ERROR(parser.ExpectEnd());
    statements.push_back(std::move(statement));
  }
  return statements;
}

}  // namespace hpu::passes
