// Programs in files: XLA's text, serialised HloModuleProto, serialised HloProto.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_CHECK_PROGRAM_FILE_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_CHECK_PROGRAM_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "xla/service/hlo.pb.h"

namespace hpu::gaudi {

// Paths of the files *.hlo and *.pb in a folder, by name. NotFound if the folder cannot be read or has no such file.
absl::StatusOr<std::vector<std::string>> ProgramFiles(const std::string& folder);

// Reads a program. A root that is not a tuple becomes the only element of a tuple, as backends require. NotFound if the
// file cannot be read, InvalidArgument if it holds no program.
absl::StatusOr<xla::HloModuleProto> ReadProgram(const std::string& path);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_CHECK_PROGRAM_FILE_H_
