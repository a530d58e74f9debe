#include "plugin/backends/gaudi/device/driver_holders.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace hpu::gaudi {
namespace {

namespace fs = std::filesystem;

// A folder like /proc with a process that has these files open.
void AddProcess(const fs::path& proc, int pid, const std::string& command, const std::vector<std::string>& files) {
  const fs::path folder = proc / absl::StrCat(pid);
  fs::create_directories(folder / "fd");
  std::ofstream(folder / "cmdline") << command << '\0' << "train.py" << '\0';
  for (size_t i = 0; i < files.size(); ++i) fs::create_symlink(files[i], folder / "fd" / absl::StrCat(i));
}

TEST(DriverHoldersTest, ProcessesWithDeviceFilesAreNamed) {
  const fs::path proc = fs::temp_directory_path() / absl::StrCat("hpu_driver_holders.", getpid());
  AddProcess(proc, 900001, "python", {"/dev/null", "/dev/accel/accel3", "/dev/accel/accel3"});
  AddProcess(proc, 41, "python3", {"/dev/hl0", "/dev/hl1"});
  AddProcess(proc, 42, "hl-smi", {"/dev/hl_controlD0", "/dev/accel/accel_controlD0", "/dev/accel/accel"});
  AddProcess(proc, getpid(), "self", {"/dev/hl0"});
  fs::create_directories(proc / "sys" / "fd");
  EXPECT_EQ(DriverHolders(proc.string()),
            (std::vector<std::string>{"pid 41 (python3 train.py) has /dev/hl0, /dev/hl1",
                                      "pid 900001 (python train.py) has /dev/accel/accel3"}));
  fs::remove_all(proc);
  EXPECT_TRUE(DriverHolders(proc.string()).empty());
}

}  // namespace
}  // namespace hpu::gaudi
