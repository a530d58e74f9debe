// Minimal JSON writer. TensorFlow's pip package brings none.
#ifndef HPU_PLUGIN_BASE_JSON_JSON_H_
#define HPU_PLUGIN_BASE_JSON_JSON_H_

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hpu {

// The text as a JSON string. Bytes from 0x80 stay as they are: names are UTF-8.
std::string JsonQuote(std::string_view text);

std::string JsonStrings(const std::vector<std::string>& texts);

// format(std::string* out, const Element&) appends one element.
template <typename List, typename Format>
std::string JsonList(const List& list, Format format) {
  return absl::StrCat("[", absl::StrJoin(list, ",", format), "]");
}

// One object, member by member. Names need no escapes.
class JsonObject {
 public:
  void Add(std::string_view name, std::string_view text) { AddLiteral(name, JsonQuote(text)); }
  template <typename Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
  void Add(std::string_view name, Number value) {
    if constexpr (std::is_same_v<Number, bool>) {
      AddLiteral(name, value ? "true" : "false");
    } else {
      AddLiteral(name, absl::StrCat(value));
    }
  }
  // `literal` must be valid JSON.
  void AddLiteral(std::string_view name, const std::string& literal);
  std::string Finish() && { return json_ + "}"; }

 private:
  std::string json_ = "{";
};

}  // namespace hpu

#endif  // HPU_PLUGIN_BASE_JSON_JSON_H_
