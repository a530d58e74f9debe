// Tests of DeviceContents and PjrtRecipe on a plugin's device: donation, sharing, parts of buffers, damaged recipes.
#include "plugin/backends/pjrt/device_contents.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <future>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/testing/cts/fixture.h"
#include "plugin/testing/cts/programs.h"
#include "plugin/testing/forwarding_pjrt.h"
#include "plugin/testing/pjrt_client.h"

namespace hpu::pjrt {
namespace device_contents_test {

using Floats = std::vector<float>;

constexpr int64_t kCount = 1024;
constexpr uint64_t kBytes = kCount * sizeof(float);
// Arbitrary numbers, because DeviceContents does not check addresses.
constexpr hal::DeviceAddress kX = 1 << 20;
constexpr hal::DeviceAddress kD = 2 << 20;
constexpr hal::DeviceAddress kElsewhere = 3 << 20;

class DeviceContentsTest : public ClientFixture {
 protected:
  void SetUp() override {
    ClientFixture::SetUp();
    if (!HasFatalFailure()) CreateContents();
  }

  void CreateContents() {
    contents_ = std::make_unique<DeviceContents>(*client_, /*donates=*/true);
    recipe_ = cts::Value(PjrtRecipe::Compile(*client_, "target", cts::AddInPlace(kCount)));
    ASSERT_NE(nullptr, recipe_);
  }

  void Write(hal::DeviceAddress address, const Floats& values) {
    Event source_free;
    ASSERT_OK(contents_->CopyToDevice(values.data(), address, values.size() * sizeof(float), &source_free));
    ASSERT_OK(source_free.Await());
  }
  Floats Read(hal::DeviceAddress address, size_t count) {
    return Read(contents_->Pieces(address, count * sizeof(float)));
  }
  Floats Read(const std::vector<AddressMap::Piece>& pieces) {
    uint64_t bytes = 0;
    for (const AddressMap::Piece& piece : pieces) bytes += piece.bytes;
    Floats values(bytes / sizeof(float));
    std::vector<Event> ends;
    EXPECT_OK(contents_->CopyToHost(pieces, values.data(), &ends));
    for (const Event& end : ends) EXPECT_OK(end.Await());
    return values;
  }
  // x += d
  void Launch(hal::DeviceAddress x = kX, hal::DeviceAddress d = kD) {
    const auto end = contents_->Launch(*recipe_, {{x, d}, {x}, 0});
    ASSERT_TRUE(end.ok()) << end.status();
    ASSERT_OK(end->Await());
  }
  // Address of the memory of the whole buffer that is bound to x.
  void* Memory(hal::DeviceAddress x) {
    const auto pieces = contents_->Pieces(x, kBytes);
    return cts::Value(client_->DeviceMemory(pieces.at(0).buffer->handle.get()));
  }

  std::unique_ptr<DeviceContents> contents_;
  std::shared_ptr<const PjrtRecipe> recipe_;
};

TEST_F(DeviceContentsTest, ResultsReuseTheMemoryOfUnsharedArguments) {
  Write(kX, Floats(kCount, 1));
  Write(kD, Floats(kCount, 2));
  Launch();
  void* const memory = Memory(kX);
  for (int i = 0; i < 5; ++i) Launch();
  EXPECT_EQ(memory, Memory(kX));
  EXPECT_EQ(Floats(kCount, 13), Read(kX, kCount));
}

TEST_F(DeviceContentsTest, DonatedAndKeptArgumentsAreCounted) {
  Write(kX, Floats(kCount, 1));
  Write(kD, Floats(2 * kCount, 2));
  for (int i = 0; i < 3; ++i) Launch();
  EXPECT_EQ(3u, contents_->donations().donated);
  EXPECT_EQ(0u, contents_->donations().kept);
  const auto queued = contents_->Pieces(kX, kBytes);  // as held by a queued copy to the host
  Launch();
  Launch(kD + kBytes, kX);  // a part of a buffer
  EXPECT_EQ(3u, contents_->donations().donated);
  EXPECT_EQ(2u, contents_->donations().kept);
}

// The plugin has consumed x before it finds that the temporaries do not fit.
TEST_F(DeviceContentsTest, VariablesOfAFailedLaunchAreLostUntilTheyAreWritten) {
  const auto large = cts::Value(PjrtRecipe::Compile(*client_, "target", cts::AddInPlaceOutOfMemory(kCount)));
  ASSERT_NE(nullptr, large);
  Write(kX, Floats(kCount, 1));
  Write(kD, Floats(kCount, 2));
  Write(kElsewhere, Floats(kCount, 3));
  const auto error_of = [](absl::StatusOr<Event> end) {
    const absl::Status status = end.ok() ? end->Await() : end.status();
    EXPECT_TRUE(absl::StrContains(status.message(), "Out of memory")) << status;
  };
  error_of(contents_->Launch(*large, {{kX, kD}, {kX}, 0}));
  error_of(contents_->Launch(*recipe_, {{kX, kD}, {kX}, 0}));
  Floats values(kCount);
  std::vector<Event> ends;
  const absl::Status read = contents_->CopyToHost(contents_->Pieces(kX, kBytes), values.data(), &ends);
  EXPECT_TRUE(absl::StrContains(read.message(), "Out of memory")) << read;
  EXPECT_EQ(Floats(kCount, 2), Read(kD, kCount));
  EXPECT_EQ(Floats(kCount, 3), Read(kElsewhere, kCount));
  Write(kX, Floats(kCount, 5));
  Launch();
  EXPECT_EQ(Floats(kCount, 7), Read(kX, kCount));
}

// A device of a plugin whose launches can fail, and with figures of its memory.
class FailingLaunchTest : public DeviceContentsTest {
 protected:
  void SetUp() override {
    ClientFixture::SetUp();
    if (!HasFatalFailure()) ForwardToPlugin();
    if (!HasFatalFailure()) CreateContents();
    if (HasFatalFailure()) return;
    forwarding_pjrt::SetMemoryStats(3 << 20, -1, 4 << 20, 1 << 19, -1, -1);
    Write(kX, Floats(kCount, 1));
    Write(kD, Floats(kCount, 2));
    Write(kElsewhere, Floats(kCount, 3));
  }

  absl::Status LaunchStatus() { return contents_->Launch(*recipe_, {{kX, kD}, {kX}, 0}).status(); }
  absl::Status ReadStatus(hal::DeviceAddress address) {
    Floats values(kCount);
    std::vector<Event> ends;
    return contents_->CopyToHost(contents_->Pieces(address, kBytes), values.data(), &ends);
  }

  static constexpr char kFigures[] =
      "(injected); device memory by the plugin: in use 3 MiB, limit 4 MiB, largest free block 524288 bytes";
};

TEST_F(FailingLaunchTest, ConsumedArgumentsAreLostUntilTheyAreWritten) {
  Launch();
  forwarding_pjrt::FailLaunch(1, /*consumes=*/1);
  Launch();
  const uint64_t donated = contents_->donations().donated;
  cts::ExpectError(LaunchStatus(), absl::StatusCode::kResourceExhausted, kFigures);
  EXPECT_EQ(donated, contents_->donations().donated);
  // The statistics in the text are those of the failure.
  forwarding_pjrt::SetMemoryStats(1 << 20, -1, 4 << 20, -1, -1, -1);
  cts::ExpectError(ReadStatus(kX), absl::StatusCode::kResourceExhausted,
                   absl::StrCat("a failed launch of ", recipe_->name(), " has overwritten the buffer"));
  cts::ExpectError(ReadStatus(kX), absl::StatusCode::kResourceExhausted, kFigures);
  cts::ExpectError(ReadStatus(kX), absl::StatusCode::kResourceExhausted, "assign the variable again");
  const absl::Status again = LaunchStatus();
  cts::ExpectError(again, absl::StatusCode::kResourceExhausted, "argument 0 is lost: ");
  EXPECT_FALSE(absl::StrContains(again.message(), "in use 1 MiB")) << again;
  EXPECT_EQ(Floats(kCount, 2), Read(kD, kCount));
  EXPECT_EQ(Floats(kCount, 3), Read(kElsewhere, kCount));
  Write(kX, Floats(kCount, 5));
  Launch();
  EXPECT_EQ(Floats(kCount, 7), Read(kX, kCount));
}

TEST_F(FailingLaunchTest, FillsThatFailReportTheMemory) {
  constexpr uint64_t kLarge = 1 << 20;  // filled by a launch
  forwarding_pjrt::FailLaunch(0, /*consumes=*/0);
  Event end;
  cts::ExpectError(contents_->Fill(kX, 1, kLarge, &end), absl::StatusCode::kResourceExhausted, kFigures);
}

TEST_F(FailingLaunchTest, ArgumentsThatThePluginKeepsStay) {
  forwarding_pjrt::FailLaunch(0, /*consumes=*/0);
  cts::ExpectError(LaunchStatus(), absl::StatusCode::kResourceExhausted, kFigures);
  EXPECT_EQ(Floats(kCount, 1), Read(kX, kCount));
  Launch();
  EXPECT_EQ(Floats(kCount, 3), Read(kX, kCount));
  EXPECT_EQ(1u, contents_->donations().donated);  // the failed launch does not count
}

TEST_F(FailingLaunchTest, OtherOwnersOfAConsumedArgumentKeepTheirContents) {
  contents_->CopyOnDevice(kX, kElsewhere, kBytes);  // x is shared, so it is not donated
  forwarding_pjrt::FailLaunch(0, /*consumes=*/1);
  cts::ExpectError(LaunchStatus(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Floats(kCount, 1), Read(kX, kCount));
  EXPECT_EQ(Floats(kCount, 1), Read(kElsewhere, kCount));
}

TEST_F(DeviceContentsTest, WithoutDonationResultsGetNewMemory) {
  contents_ = std::make_unique<DeviceContents>(*client_, /*donates=*/false);
  Write(kX, Floats(kCount, 1));
  Write(kD, Floats(kCount, 2));
  const auto held = contents_->Pieces(kX, kBytes);
  Launch();
  EXPECT_EQ(Floats(kCount, 3), Read(kX, kCount));
  EXPECT_EQ(Floats(kCount, 1), Read(held));
}

TEST_F(DeviceContentsTest, SharedBuffersAreNotDonated) {
  Write(kX, Floats(kCount, 1));
  Write(kD, Floats(kCount, 2));
  const auto queued = contents_->Pieces(kX, kBytes);  // as held by a queued copy to the host
  Launch();
  EXPECT_EQ(Floats(kCount, 1), Read(queued));
  contents_->CopyOnDevice(kX, kElsewhere, kBytes);
  Launch();
  EXPECT_EQ(Floats(kCount, 3), Read(kElsewhere, kCount));
  EXPECT_EQ(Floats(kCount, 5), Read(kX, kCount));
  Launch(kX, kX);  // both arguments are one buffer
  EXPECT_EQ(Floats(kCount, 10), Read(kX, kCount));
}

TEST_F(DeviceContentsTest, PartsOfBuffersAreArguments) {
  Floats many(4 * kCount);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<float>(i);
  Write(kD, many);
  for (const size_t offset : {size_t{0}, size_t{16}, size_t{1}, size_t{kCount + 3}}) {  // aligned and unaligned
    Write(kX, Floats(kCount, 0));
    Launch(kX, kD + offset * sizeof(float));
    EXPECT_EQ(Floats(many.begin() + offset, many.begin() + offset + kCount), Read(kX, kCount)) << offset;
  }
  // An aliased argument that is a part of a buffer: the other parts keep their contents.
  Launch(kD + kBytes, kX);
  EXPECT_EQ(Floats(many.begin(), many.begin() + kCount), Read(kD, kCount));
  EXPECT_EQ(Floats(many.begin() + 2 * kCount, many.end()), Read(kD + 2 * kBytes, 2 * kCount));
}

// A launch on a thread of its own: CUDA plugins wait in Execute until the exchange has written the launch's arguments.
class LaunchOnThread {
 public:
  explicit LaunchOnThread(std::function<absl::StatusOr<Event>()> launch)
      : result_(std::async(std::launch::async, std::move(launch))) {
    // CPU plugins return here. Nothing depends on the time.
    result_.wait_for(std::chrono::milliseconds(100));
  }

  // Waits for the end of the launched work.
  absl::Status Await() {
    const absl::StatusOr<Event> end = result_.get();
    return end.ok() ? end->Await() : end.status();
  }

 private:
  std::future<absl::StatusOr<Event>> result_;
};

TEST_F(DeviceContentsTest, WorkMayBeQueuedOnTheResultsOfAnExchange) {
  Write(kX, Floats(kCount, 1));
  Write(kD, Floats(kCount, 2));
  auto exchange = contents_->Exchange({{kX, kBytes, /*is_written=*/false}, {kD, kBytes, /*is_written=*/true}});
  ASSERT_TRUE(exchange.ok()) << exchange.status();
  Write(kX, Floats(kCount, 5));  // the exchange reads the earlier contents
  LaunchOnThread launch([&] { return contents_->Launch(*recipe_, {{kX, kD}, {kX}, 0}); });
  EXPECT_OK(exchange->Run(
      [](const absl::Status& before, absl::Span<char* const> data) {
        std::memcpy(data[1], data[0], kBytes);
        return before;
      },
      absl::OkStatus(), *contents_));
  EXPECT_OK(launch.Await());
  EXPECT_EQ(Floats(kCount, 6), Read(kX, kCount));
  EXPECT_EQ(Floats(kCount, 1), Read(kD, kCount));
}

TEST_F(DeviceContentsTest, UsersOfAFailedExchangeFail) {
  for (const bool failed_before : {false, true}) {
    Write(kX, Floats(kCount, 1));
    auto exchange = contents_->Exchange({{kX, kBytes, /*is_written=*/false}, {kD, kBytes, /*is_written=*/true}});
    ASSERT_TRUE(exchange.ok()) << exchange.status();
    LaunchOnThread launch([&] { return contents_->Launch(*recipe_, {{kElsewhere, kD}, {kElsewhere}, 0}); });
    const absl::Status error = absl::CancelledError("rank 1 has left");
    const absl::Status result =
        exchange->Run([&](const absl::Status& before, absl::Span<char* const>) { return before.ok() ? error : before; },
                      failed_before ? error : absl::OkStatus(), *contents_);
    EXPECT_EQ(error, result);
    const absl::Status end = launch.Await();
    EXPECT_TRUE(absl::StrContains(end.message(), "rank 1 has left")) << end;  // the plugin changes the status code
    std::vector<Event> ends;
    Floats values(kCount);
    cts::ExpectError(contents_->CopyToHost(contents_->Pieces(kD, kBytes), values.data(), &ends),
                     absl::StatusCode::kCancelled, "rank 1 has left");
    Write(kD, Floats(kCount, 3));
    Write(kElsewhere, Floats(kCount, 1));
    Launch(kElsewhere, kD);
    EXPECT_EQ(Floats(kCount, 4), Read(kElsewhere, kCount));
  }
}

TEST_F(DeviceContentsTest, LaunchesKeepNoBuffers) {
  Write(kX, Floats(kCount, 0));
  Write(kD, Floats(2 * kCount, 1));
  Launch(kX, kD + sizeof(float));  // a part of a buffer
  const std::weak_ptr<SharedBuffer> watch = contents_->Pieces(kD, kBytes).at(0).buffer;
  contents_->Erase(kD, 2 * kBytes);
  EXPECT_TRUE(watch.expired());
}

TEST_F(DeviceContentsTest, ArgumentsOfSeveralPartsAreAssembled) {
  Write(kX, Floats(kCount, 0));
  Write(kD, Floats(kCount, 7));
  Write(kD + 100 * sizeof(float), Floats(50, 8));
  contents_->Erase(kD + 500 * sizeof(float), 100 * sizeof(float));
  Launch();
  Floats expected(kCount, 7);
  std::fill_n(expected.begin() + 100, 50, 8.0f);
  std::fill_n(expected.begin() + 500, 100, 0.0f);
  EXPECT_EQ(expected, Read(kX, kCount));
}

TEST_F(DeviceContentsTest, LargeArgumentsOfSeveralPartsAreAssembledOnTheDevice) {
  constexpr int64_t kMany = 64 << 10;
  const auto recipe = cts::Value(PjrtRecipe::Compile(*client_, "target", cts::AddInPlace(kMany)));
  Write(kX, Floats(kMany, 1));
  Write(kD, Floats(kMany, 7));
  Write(kD + 1000 * sizeof(float), Floats(5000, 8));
  const auto end = contents_->Launch(*recipe, {{kX, kD}, {kX}, 0});
  ASSERT_TRUE(end.ok()) << end.status();
  Floats expected(kMany, 8);
  std::fill_n(expected.begin() + 1000, 5000, 9.0f);
  EXPECT_EQ(expected, Read(kX, kMany));
}

TEST_F(DeviceContentsTest, ManyLaunchesLeaveTheNumberOfRangesConstant) {
  Write(kX, Floats(kCount, 0));
  Write(kD, Floats(kCount, 1));
  Launch();
  const size_t ranges = contents_->ranges();
  contents_->DestroyDonated();
  const uint64_t handles = contents_->live_handles();
  for (int i = 0; i < 2000; ++i) {
    Write(kD, Floats(kCount, 1));
    Launch();
  }
  EXPECT_EQ(ranges, contents_->ranges());
  contents_->DestroyDonated();
  EXPECT_EQ(handles, contents_->live_handles());
  EXPECT_EQ(2001u, contents_->donations().donated);
  EXPECT_EQ(Floats(kCount, 2001), Read(kX, kCount));
  contents_->Erase(kX, kBytes);
  contents_->Erase(kD, kBytes);
  EXPECT_EQ(0u, contents_->ranges());
}

TEST_F(DeviceContentsTest, DamagedRecipesAreRefused) {
  const std::string bytes = cts::Value(recipe_->Serialize());
  std::mt19937_64 random(5);
  for (int i = 0; i < 1000; ++i) {
    std::string damaged = bytes;
    const int bits = 1 + static_cast<int>(random() % 8);
    for (int bit = 0; bit < bits; ++bit) damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
    if (damaged == bytes) continue;
    const absl::Status status = PjrtRecipe::Load(*client_, "target", "damaged", damaged).status();
    ASSERT_TRUE(absl::IsInvalidArgument(status)) << i << ": " << status;
  }
  EXPECT_TRUE(PjrtRecipe::Load(*client_, "target", "intact", bytes).ok());
  // A recipe of another plugin, or of another version of this plugin.
  const absl::Status status = PjrtRecipe::Load(*client_, "another target", "other", bytes).status();
  EXPECT_EQ(absl::StatusCode::kFailedPrecondition, status.code()) << status;
}

TEST(PjrtOptions, AreParsedByTheirForm) {
  const Options options = ParseOptions("a=1; b=true;c=0.5;d=[0,1];e=x=y;").value();
  ASSERT_EQ(5u, options.size());
  EXPECT_EQ(OptionValue(int64_t{1}), options[0].second);
  EXPECT_EQ("b", options[1].first);
  EXPECT_EQ(OptionValue(true), options[1].second);
  EXPECT_EQ(OptionValue(0.5f), options[2].second);
  EXPECT_EQ(OptionValue(std::vector<int64_t>{0, 1}), options[3].second);
  EXPECT_EQ(OptionValue(std::string("x=y")), options[4].second);
  EXPECT_EQ(absl::StatusCode::kInvalidArgument, ParseOptions("a").status().code());
  EXPECT_TRUE(ParseOptions("").value().empty());
}

}  // namespace device_contents_test
}  // namespace hpu::pjrt
