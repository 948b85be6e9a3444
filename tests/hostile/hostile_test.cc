// At least 100,000 hostile packets through the real pipeline: each alone gets the verdict that the
// oracle derives from SEMANTICS, and in mixed bursts the same again; nothing is lost or kept.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/hostile/packet_file.h"
#include "tests/hostile/pipeline.h"
#include "tests/hostile/reply_check.h"

namespace wirecache::hostile {
namespace {

using testing::RigOptions;

constexpr size_t kLeastPackets = 100'000;
constexpr size_t kShownFailures = 20;
constexpr unsigned kMaxBurst = 64;
constexpr size_t kNoLabel = ~size_t{0};

// What became of one packet that was alone.
struct Seen {
  size_t label = kNoLabel;
  std::vector<Wire> replies;
};

std::string hex(const Wire& bytes) {
  std::string out;
  char text[3];
  for (const uint8_t byte : bytes) {
    std::snprintf(text, sizeof text, "%02x", byte);
    out += text;
  }
  return out;
}

// Names are the same in any case; the bytes between header and type are the name.
Wire from_flags_on_lowered(const Wire& message) {
  Wire out(message.begin() + 2, message.end());
  for (size_t at = 10; at + 2 < testing::question_end(message) - 4; ++at) {
    if (out[at] >= 'A' && out[at] <= 'Z') out[at] |= 0x20;
  }
  return out;
}

RigOptions rig_options(unsigned workers, uint16_t queues) {
  RigOptions options;
  options.workers = workers;
  options.queues = {queues};
  options.mbufs = 2047;
  return options;
}

// The label whose counter went up by one while all others stood still.
size_t only_label(const std::vector<uint64_t>& before, const std::vector<uint64_t>& after) {
  size_t found = kNoLabel;
  for (size_t i = 0; i < before.size(); ++i) {
    if (after[i] == before[i]) continue;
    if (after[i] != before[i] + 1 || found != kNoLabel) return kNoLabel;
    found = i;
  }
  return found;
}

class Hostile : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    file_ = std::make_unique<PacketFile>(
        packets_from("exec /usr/bin/python3 -B " WC_MAKE_PACKETS " --out -"));
    if (!file_->error.empty()) return;
    pipeline_ = std::make_unique<Pipeline>(rig_options(2, 2), file_->labels);
    seen_.resize(file_->packets.size());
    std::vector<uint64_t> counts = pipeline_->counts();
    for (size_t i = 0; i < file_->packets.size(); ++i)
      run_alone(file_->packets[i], seen_[i], counts);
  }

  static void TearDownTestSuite() {
    pipeline_.reset();
    seen_.clear();
    file_.reset();
  }

  void SetUp() override { ASSERT_EQ(file_->error, ""); }

  static void run_alone(const HostilePacket& packet, Seen& seen, std::vector<uint64_t>& counts) {
    pipeline_->inject(packet.frame, packet.number % pipeline_->queues());
    Output out = pipeline_->settle();
    const std::vector<uint64_t> after = pipeline_->counts();
    seen.label = only_label(counts, after);
    counts = after;
    const std::string problem = problem_of(packet, seen.label, out);
    seen.replies = std::move(out.replies);
    if (!problem.empty()) note_failure(packet, seen, problem);
  }

  // "" where what became of the packet is one of its verdicts to the byte.
  static std::string problem_of(const HostilePacket& packet, size_t label, const Output& out) {
    if (label == kNoLabel) return "not counted once";
    const bool punted = file_->labels[label] == "punt";
    if (out.punted.size() != (punted ? 1 : 0) || (punted && out.punted[0] != packet.frame))
      return "what the kernel got is not the frame";
    std::string problem = "not a right verdict";
    for (const Verdict& verdict : packet.verdicts) {
      if (verdict.label != label) continue;
      problem = output_problem(packet, verdict, out);
      if (problem.empty()) return "";
    }
    return problem;
  }

  static std::string output_problem(const HostilePacket& packet, const Verdict& verdict,
                                    const Output& out) {
    if (out.upstream.size() != (verdict.upstream.empty() ? 0 : 1)) return "upstream queries";
    if (!out.upstream.empty() && from_flags_on_lowered(out.upstream[0]) != verdict.upstream)
      return "asked the upstream " + hex(out.upstream[0]) + ", not " + hex(verdict.upstream);
    if (out.replies.size() != (verdict.reply.empty() ? 0 : 1))
      return std::to_string(out.replies.size()) + " replies";
    if (out.replies.empty()) return "";
    Wire message;
    const std::string problem = reply_problem(packet.frame, out.replies[0], message);
    if (!problem.empty()) return "reply: " + problem;
    return message == verdict.reply ? ""
                                    : "answered " + hex(message) + ", not " + hex(verdict.reply);
  }

  static void note_failure(const HostilePacket& packet, const Seen& seen,
                           const std::string& problem) {
    if (failures_.size() >= kShownFailures) {
      ++more_failures_;
      return;
    }
    std::string right;
    for (const Verdict& verdict : packet.verdicts)
      right += " " + file_->labels[verdict.label] + ";";
    failures_.push_back(
        "packet " + std::to_string(packet.number) + ", " + file_->families[packet.family] + ", " +
        packet.what + ": " + problem + "\n  right:" + right +
        "\n  seen: " + (seen.label == kNoLabel ? "nothing" : file_->labels[seen.label]) +
        "\n  frame " + hex(packet.frame));
  }

  static std::map<std::string, size_t> packets_by_family() {
    std::map<std::string, size_t> count;
    for (const std::string& family : file_->families) count[family] = 0;
    for (const HostilePacket& packet : file_->packets) ++count[file_->families[packet.family]];
    return count;
  }

  static std::unique_ptr<PacketFile> file_;
  static std::unique_ptr<Pipeline> pipeline_;
  static std::vector<Seen> seen_;
  static std::vector<std::string> failures_;
  static size_t more_failures_;
};

std::unique_ptr<PacketFile> Hostile::file_;
std::unique_ptr<Pipeline> Hostile::pipeline_;
std::vector<Seen> Hostile::seen_;
std::vector<std::string> Hostile::failures_;
size_t Hostile::more_failures_ = 0;

TEST_F(Hostile, EveryFamilyIsThere) {
  EXPECT_GE(file_->packets.size(), kLeastPackets);
  for (const auto& [family, count] : packets_by_family()) {
    std::printf("  %s: %zu packets\n", family.c_str(), count);
    // The data of `real` is not part of the tree.
    EXPECT_TRUE(count > 0 || family == "real") << family;
  }
}

TEST_F(Hostile, EachPacketGetsTheVerdictOfSemantics) {
  for (const std::string& failure : failures_) ADD_FAILURE() << failure;
  EXPECT_EQ(more_failures_, 0u) << "more packets with a wrong verdict";
}

TEST_F(Hostile, EveryVerdictIsSeen) {
  const std::vector<uint64_t> counts = pipeline_->counts();
  for (size_t label = 0; label < counts.size(); ++label)
    EXPECT_GT(counts[label], 0u) << file_->labels[label];
}

TEST_F(Hostile, NothingIsLeaked) {
  EXPECT_EQ(pipeline_->rig().sum(&stats::WorkerStats::received) -
                pipeline_->rig().sum(&stats::WorkerStats::upstream_answers_taken),
            file_->packets.size());
  EXPECT_EQ(pipeline_->leaks(), "");
}

// In bursts of up to 64 over all queues: the sums of what each packet got alone, and the same
// frames to clients and kernel.
class HostileBursts : public Hostile, public ::testing::WithParamInterface<RigOptions> {
 protected:
  void run_burst(Pipeline& pipeline, const std::vector<uint32_t>& order, size_t first,
                 size_t count) {
    std::vector<uint64_t> right = pipeline.counts();
    std::vector<Wire> replies, punted;
    for (size_t i = first; i < first + count; ++i) {
      const HostilePacket& packet = file_->packets[order[i]];
      const Seen& seen = seen_[order[i]];
      pipeline.inject(packet.frame, random_() % pipeline.queues());
      ++right[seen.label];
      replies.insert(replies.end(), seen.replies.begin(), seen.replies.end());
      if (file_->labels[seen.label] == "punt") punted.push_back(packet.frame);
    }
    Output out = pipeline.settle();
    ASSERT_EQ(pipeline.counts(), right);
    for (auto* frames : {&replies, &punted, &out.replies, &out.punted})
      std::sort(frames->begin(), frames->end());
    ASSERT_EQ(out.replies, replies);
    ASSERT_EQ(out.punted, punted);
  }

  std::mt19937 random_{1};
};

TEST_P(HostileBursts, GiveTheSameVerdicts) {
  ASSERT_TRUE(failures_.empty());
  Pipeline pipeline(GetParam(), file_->labels);
  std::vector<uint32_t> order(file_->packets.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random_);
  for (size_t first = 0; first < order.size();) {
    const size_t count = std::min<size_t>(1 + random_() % kMaxBurst, order.size() - first);
    ASSERT_NO_FATAL_FAILURE(run_burst(pipeline, order, first, count)) << "packets from " << first;
    first += count;
  }
  for (unsigned id = 0; id < GetParam().workers; ++id)
    EXPECT_GT(pipeline.rig().node().stats(id).outcomes[stats::Outcome::kMiss].value(), 0u) << id;
  EXPECT_EQ(pipeline.leaks(), "");
  EXPECT_EQ(pipeline.answers_still(), "");
}

INSTANTIATE_TEST_SUITE_P(Rigs, HostileBursts,
                         ::testing::Values(rig_options(2, 2), rig_options(3, 1)),
                         [](const auto& info) {
                           return std::to_string(info.param.workers) + "Workers" +
                                  std::to_string(info.param.queues[0]) + "Queues";
                         });

}  // namespace
}  // namespace wirecache::hostile
