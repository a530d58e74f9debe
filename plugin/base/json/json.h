// Strings of JSON.
#ifndef HPU_PLUGIN_BASE_JSON_JSON_H_
#define HPU_PLUGIN_BASE_JSON_JSON_H_

#include <string>
#include <string_view>

namespace hpu {

// The text as a JSON string. Bytes from 0x80 stay as they are: names are UTF-8.
std::string JsonQuote(std::string_view text);

}  // namespace hpu

#endif  // HPU_PLUGIN_BASE_JSON_JSON_H_
