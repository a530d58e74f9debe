// JsonQuote: JSON string literals.
#ifndef HPU_PLUGIN_BASE_JSON_JSON_H_
#define HPU_PLUGIN_BASE_JSON_JSON_H_

#include <string>
#include <string_view>

namespace hpu {

// Quotes and escapes `text` as a JSON string. Bytes above 0x7f are not escaped, because names are UTF-8.
std::string JsonQuote(std::string_view text);

}  // namespace hpu

#endif  // HPU_PLUGIN_BASE_JSON_JSON_H_
