// JSON files that users write or that are installed with the package.
#ifndef HPU_PLUGIN_PASSES_GRAPH_JSON_FILE_H_
#define HPU_PLUGIN_PASSES_GRAPH_JSON_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "google/protobuf/struct.pb.h"

namespace hpu::passes {

// The text of a file. Fails with NOT_FOUND if the file does not exist and INVALID_ARGUMENT if it cannot be read; the
// error names the file.
absl::StatusOr<std::string> ReadText(const std::string& path);

// Parses a file's text as a JSON object.
absl::StatusOr<google::protobuf::Struct> ParseJsonObject(const std::string& text, const std::string& path);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_GRAPH_JSON_FILE_H_
