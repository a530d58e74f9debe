// JSON files that users write or that are installed with the package.
#ifndef HPU_PLUGIN_PASSES_GRAPH_JSON_FILE_H_
#define HPU_PLUGIN_PASSES_GRAPH_JSON_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "google/protobuf/struct.pb.h"

namespace hpu::passes {

// The text of a file. The error names the file: NOT_FOUND where there is none, INVALID_ARGUMENT where it cannot be
// read.
absl::StatusOr<std::string> ReadText(const std::string& path);

// The object that the text of a file holds.
absl::StatusOr<google::protobuf::Struct> ParseJsonObject(const std::string& text, const std::string& path);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_GRAPH_JSON_FILE_H_
