#include "plugin/backends/pjrt/compile_options.h"

#include "xla/pjrt/compile_options.pb.h"

namespace hpu::pjrt {

std::string CompileOptions() {
  xla::CompileOptionsProto options;
  options.mutable_executable_build_options()->set_num_replicas(1);
  options.mutable_executable_build_options()->set_num_partitions(1);
  return options.SerializeAsString();
}

}  // namespace hpu::pjrt
