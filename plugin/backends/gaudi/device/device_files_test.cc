#include "plugin/backends/gaudi/device/device_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace hpu::gaudi {
namespace {

namespace fs = std::filesystem;

TEST(DeviceFilesTest, ControlFilesAreNotDeviceFiles) {
  for (const char* path : {"/dev/accel/accel0", "/dev/accel/accel12", "/dev/hl0"}) EXPECT_TRUE(IsDeviceFile(path));
  for (const char* path : {"/dev/accel/accel_controlD0", "/dev/hl_controlD0", "/dev/accel/accel", "/dev/null"}) {
    EXPECT_FALSE(IsDeviceFile(path));
  }
}

TEST(DeviceFilesTest, GaudiNeedsACardAndTheLibrary) {
  const fs::path root = fs::temp_directory_path() / absl::StrCat("hpu_device_files.", getpid());
  const fs::path driver = root / "sys/bus/pci/drivers/habanalabs";
  EXPECT_EQ(FindGaudi(root, SYNAPSE_DOUBLE_LIBRARY_1_18), "");  // no driver
  fs::create_directories(driver);
  std::ofstream(driver / "bind") << "";
  EXPECT_EQ(FindGaudi(root, SYNAPSE_DOUBLE_LIBRARY_1_18), "");  // no card
  fs::create_symlink("../../../../devices/pci0000:16/0000:19:00.0", driver / "0000:19:00.0");
  EXPECT_EQ(FindGaudi(root, SYNAPSE_DOUBLE_LIBRARY_1_18), "");  // the card is not this container's
  fs::create_directories(root / "dev/accel");
  std::ofstream(root / "dev/accel/accel_controlD0") << "";
  EXPECT_EQ(FindGaudi(root, SYNAPSE_DOUBLE_LIBRARY_1_18), "");
  std::ofstream(root / "dev/accel/accel0") << "";
  EXPECT_EQ(FindGaudi(root, SYNAPSE_DOUBLE_LIBRARY_1_18), "gaudi");
  fs::remove(root / "dev/accel/accel0");
  std::ofstream(root / "dev/hl0") << "";
  EXPECT_EQ(FindGaudi(root, SYNAPSE_DOUBLE_LIBRARY_1_5), "gaudi");
  EXPECT_EQ(FindGaudi(root, "libSynapseThatIsNotThere.so"), "");
  fs::remove_all(root);
}

}  // namespace
}  // namespace hpu::gaudi
