// Small JSON texts by hand: TensorFlow's pip package brings no writer.
#ifndef HPU_PLUGIN_PASSES_JSON_H_
#define HPU_PLUGIN_PASSES_JSON_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hpu::passes {

// The text as a JSON string. Bytes from 0x80 stay as they are: names are UTF-8.
std::string JsonQuote(std::string_view text);

std::string JsonStrings(const std::vector<std::string>& texts);

// format(std::string* out, const Element&) appends one element.
template <typename List, typename Format>
std::string JsonList(const List& list, Format format) {
  return absl::StrCat("[", absl::StrJoin(list, ",", format), "]");
}

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_JSON_H_
