#include "plugin/backends/gaudi/device/acquired_module.h"

#include <fcntl.h>
#include <sys/file.h>

#include "plugin/base/files/file_descriptor.h"
#include "plugin/testing/gaudi_double.h"

namespace hpu::gaudi {
namespace {

constexpr auto kUnavailable = absl::StatusCode::kUnavailable;

class AcquiredModuleTest : public DoubleTest {
 protected:
  // Holds a device as a process without the plugin does: the double refuses the device, and no lock file of the plugin
  // names the holder.
  files::FileDescriptor HoldElsewhere(int module) {
    const std::string path = (devices() / absl::StrCat("module-", module, ".lock")).string();
    files::FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    EXPECT_EQ(flock(file.get(), LOCK_EX | LOCK_NB), 0);
    return file;
  }
};

TEST_P(AcquiredModuleTest, ModulesThatTheDriverRefusesAreSkipped) {
  const files::FileDescriptor held = HoldElsewhere(0);
  const auto module = AcquiredModule::Acquire(runtime(), {});
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ((*module)->module_id(), 1);
}

TEST_P(AcquiredModuleTest, RefusalsOfTheDriverAreNamed) {
  const files::FileDescriptor first = HoldElsewhere(0);
  const files::FileDescriptor second = HoldElsewhere(1);
  const absl::Status status = AcquiredModule::Acquire(runtime(), {}).status();
  ExpectError(status, kUnavailable,
              "no Gaudi is free. The driver refused module 0: synDeviceAcquireByModuleId(module=0)");
  ExpectError(status, kUnavailable, "; module 1: synDeviceAcquireByModuleId(module=1) failed with");
  ExpectError(status, kUnavailable, "synDeviceAlreadyAcquired (20)");
  ExpectError(status, kUnavailable, "select other modules (HLS_MODULE_ID, HABANA_VISIBLE_MODULES)");
}

TEST_P(AcquiredModuleTest, TheModuleAskedForIsTheOneTaken) {
  hal::AcquireOptions options;
  options.module_id = 1;
  auto module = AcquiredModule::Acquire(runtime(), options);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ((*module)->module_id(), 1);
  module->reset();
  const files::FileDescriptor held = HoldElsewhere(1);
  ExpectError(AcquiredModule::Acquire(runtime(), options).status(), kUnavailable, "module 1");
  options.module_id = 2;
  ExpectError(AcquiredModule::Acquire(runtime(), options).status(), absl::StatusCode::kInvalidArgument, "module 2");
}

TEST_P(AcquiredModuleTest, OneProcessHoldsOneDevice) {
  auto first = AcquiredModule::Acquire(runtime(), {});
  ASSERT_TRUE(first.ok()) << first.status();
  ExpectError(AcquiredModule::Acquire(runtime(), {}).status(), kUnavailable, "this process holds module 0");
  first->reset();
  EXPECT_EQ(runtime().held_module(), -1);
  EXPECT_TRUE(AcquiredModule::Acquire(runtime(), {}).ok());
}

TEST_P(AcquiredModuleTest, ClaimedModulesNeedNoLockFile) {
  Set("HPU_MODULE_LOCK_DIR", "/nowhere/locks");
  hal::AcquireOptions options;
  ExpectError(AcquiredModule::Acquire(runtime(), options).status(), absl::StatusCode::kFailedPrecondition, "/nowhere");
  options.module_id = 1;
  options.is_claimed = true;
  const auto module = AcquiredModule::Acquire(runtime(), options);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ((*module)->module_id(), 1);
}

HPU_GAUDI_SUITE(AcquiredModuleTest);

}  // namespace
}  // namespace hpu::gaudi
