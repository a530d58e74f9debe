#include "plugin/backends/gaudi/synapse/library.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "plugin/testing/synapse_fake/recorded_calls.h"

namespace hpu::synapse {
namespace {

// A fake library that reports a version.
absl::StatusOr<std::unique_ptr<Library>> OpenFake(const std::string& path, const char* version) {
  setenv(kFakeVersion, version, 1);
  auto library = Library::Open(path);
  unsetenv(kFakeVersion);
  return library;
}

std::unique_ptr<Library> Open15() { return std::move(OpenFake(FAKE_SYNAPSE_1_5, "1.5.0\n")).value(); }
std::unique_ptr<Library> Open118() { return std::move(OpenFake(FAKE_SYNAPSE_1_18, "1.18.0-ee698fb")).value(); }

// The calls that the opened fake library recorded.
const RecordedCalls& CallsOf(const Library& library) {
  void* handle = dlopen(library.path().c_str(), RTLD_NOW | RTLD_NOLOAD);
  const auto get = reinterpret_cast<GetRecordedCalls>(dlsym(handle, kGetRecordedCalls));
  dlclose(handle);  // `library` keeps it loaded
  return *get();
}

template <typename T>
T As(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

synTensor AnyTensor() { return reinterpret_cast<synTensor>(8); }
synRecipeHandle AnyRecipe() { return reinterpret_cast<synRecipeHandle>(16); }

TEST(SynapseLibraryTest, BothProfilesAreSelected) {
  EXPECT_EQ(Open15()->profile(), Profile::k1_5);
  EXPECT_EQ(Open15()->version(), "1.5.0");
  EXPECT_EQ(Open118()->profile(), Profile::k1_18);
  EXPECT_EQ(Open118()->path(), FAKE_SYNAPSE_1_18);
}

TEST(SynapseLibraryTest, OtherProfilesFunctionsAreNull) {
  EXPECT_EQ(Open15()->functions_1_18().synLaunch, nullptr);
  EXPECT_NE(Open15()->functions_1_5().synLaunch, nullptr);
  EXPECT_EQ(Open118()->functions_1_5().synStreamCreate, nullptr);
  EXPECT_NE(Open118()->functions_1_18().synNodeSetDeterministic, nullptr);
}

TEST(SynapseLibraryTest, UnknownReleasesAreRefused) {
  const absl::Status status = OpenFake(FAKE_SYNAPSE_1_18, "1.21.0-555").status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_EQ(status.message(),
            "cannot use SynapseAI 1.21 (\"1.21.0-555\"): struct layouts and enums of this release are unknown; install "
            "one of the supported releases: 1.5, 1.18, 1.19");
}

TEST(SynapseLibraryTest, FunctionsOfAnotherReleaseAreRefused) {
  for (const auto& [path, version, function] : {std::tuple(FAKE_SYNAPSE_1_5, "1.18.0", "synStreamCreate"),
                                                std::tuple(FAKE_SYNAPSE_1_18, "1.5.0", "synStreamCreateGeneric")}) {
    const absl::Status status = OpenFake(path, version).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), absl::StrCat("it exports ", function, ","))) << status;
  }
}

TEST(SynapseLibraryTest, MissingRequiredFunctionsAreNamed) {
  const absl::Status status = OpenFake(FAKE_SYNAPSE_INCOMPLETE, "1.18.0").status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "it does not export synNodeCreateWithId, synSectionSetConst;"))
      << status;
}

TEST(SynapseLibraryTest, OtherFilesAreRefused) {
  const absl::Status missing = Library::Open("/missing/libSynapse.so").status();
  EXPECT_TRUE(absl::IsFailedPrecondition(missing)) << missing;
  EXPECT_TRUE(absl::StrContains(missing.message(), "cannot load SynapseAI from /missing/libSynapse.so: ")) << missing;
  EXPECT_TRUE(absl::StrContains(missing.message(), "install SynapseAI")) << missing;
  const absl::Status other = Library::Open("libc.so.6").status();
  EXPECT_TRUE(absl::StrContains(other.message(), "does not export synDriverGetVersion")) << other;
}

TEST(SynapseLibraryTest, CallsReturnTheStatusOfTheLibrary) {
  const auto library = Open118();
  uint64_t address = 0;
  const auto allocate = [&] {
    return HPU_SYNAPSE_CALL(library->functions(), synDeviceMalloc, (0, 1024, 0, 0, &address), "size=", 1024);
  };
  EXPECT_TRUE(allocate().ok());
  EXPECT_EQ(address, 4096);
  setenv(kFakeMallocStatus, "4", 1);
  const absl::Status status = allocate();
  unsetenv(kFakeMallocStatus);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "synDeviceMalloc(size=1024) failed with synOutOfDeviceMemory (4)"))
      << status;
}

TEST(SynapseLibraryTest, CallsOfMissingFunctionsFail) {
  const v1_18::Functions none;
  const absl::Status status = HPU_SYNAPSE_CALL(none, synDeviceGetModuleIDs, (nullptr, nullptr), "");
  EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "synDeviceGetModuleIDs")) << status;
}

TEST(SynapseLibraryTest, GeometryHasTheLayoutOfTheProfile) {
  const auto old_library = Open15();
  ASSERT_TRUE(old_library->SetGeometry(AnyTensor(), "x", {2, 3}).ok());
  const auto narrow = As<v1_5::synTensorGeometry>(CallsOf(*old_library).geometry);
  EXPECT_EQ(narrow.dims, 2);
  EXPECT_EQ(narrow.sizes[1], 3);
  const auto library = Open118();
  ASSERT_TRUE(library->SetGeometry(AnyTensor(), "x", {2, 3}).ok());
  const auto wide = As<v1_18::synTensorGeometry>(CallsOf(*library).geometry);
  EXPECT_EQ(wide.dims, 2);
  EXPECT_EQ(wide.sizes[1], 3);
}

TEST(SynapseLibraryTest, ElementTypesAreSetByTheProfilesFunction) {
  const auto old_library = Open15();
  ASSERT_TRUE(old_library->SetElementType(AnyTensor(), "x", syn_type_bf16).ok());
  EXPECT_EQ(As<v1_5::synTensorDeviceFullLayout>(CallsOf(*old_library).layout).deviceDataType, syn_type_bf16);
  const auto library = Open118();
  ASSERT_TRUE(library->SetElementType(AnyTensor(), "x", syn_type_int64).ok());
  EXPECT_EQ(CallsOf(*library).element_type, syn_type_int64);
}

TEST(SynapseLibraryTest, DevicesGraphsAndAttributesUseNumbersOfTheProfile) {
  const auto old_library = Open15();
  const auto library = Open118();
  for (const Library* each : {old_library.get(), library.get()}) {
    const absl::StatusOr<DeviceInfo> info = each->GetDeviceInfo(0);
    ASSERT_TRUE(info.ok()) << info.status();
    EXPECT_EQ(info->generation, Generation::kGaudi2);
    EXPECT_EQ(info->dram_bytes, 96);
    EXPECT_TRUE(info->dram_enabled);
    EXPECT_TRUE(each->CreateGraph(Generation::kGaudi2).ok());
    EXPECT_EQ(*each->GetDeviceAttribute(0, DeviceAttribute::kMaxDimensions), 7);
  }
  EXPECT_EQ(CallsOf(*old_library).device_type, 1);
  EXPECT_EQ(CallsOf(*old_library).attribute, 11);
  EXPECT_EQ(CallsOf(*library).device_type, 4);
  EXPECT_EQ(CallsOf(*library).attribute, 12);
  EXPECT_TRUE(absl::IsUnimplemented(old_library->CreateGraph(Generation::kGaudi3).status()));
}

TEST(SynapseLibraryTest, StreamsAreDestroyedByTheirOwner) {
  const auto library = Open15();
  {
    absl::StatusOr<OwnedStream> stream = library->CreateStream(0, Engine::kCompute);
    ASSERT_TRUE(stream.ok()) << stream.status();
    EXPECT_EQ(CallsOf(*library).stream_type, v1_5::STREAM_TYPE_COMPUTE);
    const OwnedStream moved = std::move(*stream);
    EXPECT_NE(moved.get(), nullptr);
    EXPECT_EQ(CallsOf(*library).destroyed_streams, 0);
  }
  EXPECT_EQ(CallsOf(*library).destroyed_streams, 1);
  const auto other = Open118();
  EXPECT_TRUE(other->CreateStream(0, Engine::kCompute).ok());
  EXPECT_EQ(CallsOf(*other).destroyed_streams, 1);
}

TEST(SynapseLibraryTest, LaunchesHaveTheLayoutOfTheProfile) {
  const auto old_library = Open15();
  LaunchTable old_table(Profile::k1_5);
  ASSERT_TRUE(old_table.Append("x", {2, 3}).ok());
  old_table.SetAddress(0, 0x1000);
  ASSERT_TRUE(old_library->RetrieveIds(AnyRecipe(), &old_table).ok());
  ASSERT_TRUE(old_library->Launch(nullptr, old_table, 0x4000, AnyRecipe()).ok());
  const auto narrow = As<v1_5::synLaunchTensorInfo>(CallsOf(*old_library).launch_tensors);
  EXPECT_EQ(narrow.pTensorAddress, 0x1000);
  EXPECT_EQ(narrow.tensorSize[1], 3);

  const auto library = Open118();
  LaunchTable table(Profile::k1_18);
  ASSERT_TRUE(table.Append("x", {2, 3}).ok());
  ASSERT_TRUE(table.Append("y", {4}).ok());
  table.SetAddress(1, 0x2000);
  ASSERT_TRUE(library->RetrieveIds(AnyRecipe(), &table).ok());
  ASSERT_TRUE(library->Launch(nullptr, table, 0x4000, AnyRecipe()).ok());
  const RecordedCalls& calls = CallsOf(*library);
  EXPECT_EQ(calls.launch_count, 2);
  EXPECT_EQ(calls.workspace, 0x4000);
  const auto wide = As<v1_18::synLaunchTensorInfo>(calls.launch_tensors + sizeof(v1_18::synLaunchTensorInfo));
  EXPECT_EQ(wide.pTensorAddress, 0x2000);
  EXPECT_EQ(wide.tensorSize[0], 4);
  EXPECT_EQ(wide.tensorId, 101);
  EXPECT_TRUE(absl::IsInternal(library->Launch(nullptr, old_table, 0, AnyRecipe())));
}

TEST(SynapseLibraryTest, TensorsWithoutAnIdAreAnError) {
  const auto library = Open118();
  LaunchTable table(Profile::k1_18);
  ASSERT_TRUE(table.Append("x", {2}).ok());
  ASSERT_TRUE(table.Append("unknown", {2}).ok());
  const absl::Status status = library->RetrieveIds(AnyRecipe(), &table);
  EXPECT_TRUE(absl::IsInternal(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "no tensor unknown:")) << status;
}

}  // namespace
}  // namespace hpu::synapse
