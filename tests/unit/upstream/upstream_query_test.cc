#include "lib/upstream/upstream_query.h"

#include <gtest/gtest.h>

#include "tests/support/dns_builder.h"

namespace wirecache::upstream {
namespace {

using testing::AnswerSpec;
using testing::QuerySpec;
using testing::Wire;

Pending pending_for(const std::string& name, uint16_t type = 1) {
  Wire wire;
  testing::put_name(wire, name);
  Pending pending{};
  std::copy(wire.begin(), wire.end(), pending.name.begin());
  pending.name_bytes = static_cast<uint8_t>(wire.size());
  pending.type = type;
  pending.id = 0x1234;
  pending.source_port = 10001;
  return pending;
}

Wire written(const Pending& pending) {
  Wire out(512);
  out.resize(write_query(pending, 1232, out));
  return out;
}

// RD=1, AD=1 (RFC 6840 §5.7), one OPT of 1232 bytes: RFC 1035 §4.1, RFC 6891 §6.1.2.
TEST(UpstreamQuery, IsMadeAnew) {
  const Wire expected = testing::make_query(
      {.name = "www.example.com", .type = 28, .id = 0x1234, .flags = 0x0120, .udp_size = 1232});
  EXPECT_EQ(written(pending_for("www.example.com", 28)), expected);
}

TEST(UpstreamQuery, CarriesCheckingDisabledAndDo) {
  Pending pending = pending_for("www.example.com");
  pending.checking_disabled = true;
  pending.dnssec = dns::DoBit::kSet;
  const Wire expected =
      testing::make_query({.flags = 0x0130, .udp_size = 1232, .edns_flags = 0x8000});
  EXPECT_EQ(written(pending), expected);
}

TEST(UpstreamQuery, LeavesOptOutWhereTheServerDoesNotKnowIt) {
  Pending pending = pending_for("www.example.com");
  pending.edns = false;
  EXPECT_EQ(written(pending), testing::make_query({.flags = 0x0120, .udp_size = -1}));
}

TEST(UpstreamQuery, NeedsRoom) {
  const Pending pending = pending_for("www.example.com");
  const size_t whole = written(pending).size();
  for (size_t size = 0; size < whole; ++size) {
    Wire out(size);
    EXPECT_EQ(write_query(pending, 1232, out), 0u) << size;
  }
}

struct Case {
  const char* what;
  AnswerKind kind;
  void (*change)(Wire&);
};

class JudgeAnswer : public ::testing::TestWithParam<Case> {};

TEST_P(JudgeAnswer, Is) {
  AnswerSpec spec;
  spec.answer = {testing::a_record("www.example.com", 300)};
  Wire answer = testing::make_answer(testing::make_query({}), spec);
  GetParam().change(answer);
  EXPECT_EQ(judge_answer(pending_for("www.example.com"), answer).kind, GetParam().kind);
}

INSTANTIATE_TEST_SUITE_P(
    Answers, JudgeAnswer,
    ::testing::Values(
        Case{"as asked", AnswerKind::kUsable, [](Wire&) {}},
        Case{"other case of the name", AnswerKind::kUsable, [](Wire& w) { w[13] = 'W'; }},
        Case{"other ID", AnswerKind::kMismatch, [](Wire& w) { w[0] ^= 1; }},
        Case{"a query", AnswerKind::kMismatch, [](Wire& w) { w[2] &= 0x7f; }},
        Case{"other opcode", AnswerKind::kMismatch, [](Wire& w) { w[2] |= 0x28; }},
        Case{"other name", AnswerKind::kMismatch, [](Wire& w) { w[13] = 'x'; }},
        Case{"other type", AnswerKind::kMismatch, [](Wire& w) { w[30] = 28; }},
        Case{"other class", AnswerKind::kMismatch, [](Wire& w) { w[32] = 3; }},
        Case{"no question", AnswerKind::kMismatch, [](Wire& w) { w[5] = 0; }},
        Case{"short", AnswerKind::kMismatch, [](Wire& w) { w.resize(11); }},
        Case{"cut", AnswerKind::kMalformed, [](Wire& w) { w.resize(w.size() - 1); }},
        Case{"garbage behind", AnswerKind::kMalformed, [](Wire& w) { w.push_back(0); }},
        Case{"truncated", AnswerKind::kTruncated, [](Wire& w) { w[2] |= 0x02; }},
        Case{"truncated and cut", AnswerKind::kTruncated,
             [](Wire& w) {
               w[2] |= 0x02;
               w.resize(w.size() - 3);
             }},
        Case{"truncated SERVFAIL", AnswerKind::kFailure,
             [](Wire& w) {
               w[2] |= 0x02;
               w[3] |= 2;
             }},
        Case{"NXDOMAIN", AnswerKind::kUsable, [](Wire& w) { w[3] |= 3; }},
        Case{"SERVFAIL", AnswerKind::kFailure, [](Wire& w) { w[3] |= 2; }},
        Case{"REFUSED", AnswerKind::kFailure, [](Wire& w) { w[3] |= 5; }},
        Case{"FORMERR", AnswerKind::kNoEdns, [](Wire& w) { w[3] |= 1; }},
        Case{"NOTIMP", AnswerKind::kNoEdns, [](Wire& w) { w[3] |= 4; }},
        Case{"bare FORMERR header", AnswerKind::kNoEdns,
             [](Wire& w) { w = {0x12, 0x34, 0x80, 0x01, 0, 0, 0, 0, 0, 0, 0, 0}; }},
        Case{"bare SERVFAIL header", AnswerKind::kMismatch,
             [](Wire& w) { w = {0x12, 0x34, 0x80, 0x02, 0, 0, 0, 0, 0, 0, 0, 0}; }}),
    [](const auto& info) {
      std::string name = info.param.what;
      std::replace_if(
          name.begin(), name.end(), [](char c) { return !isalnum(c); }, '_');
      return name;
    });

// The OPT's upper rcode bits count: BADVERS (16) is no NOERROR (RFC 6891 §6.1.3).
TEST(JudgeAnswerEdns, ReadsTheExtendedRcode) {
  const Wire answer = testing::make_answer(testing::make_query({}), {.extended_rcode = 1});
  const JudgedAnswer judged = judge_answer(pending_for("www.example.com"), answer);
  EXPECT_EQ(judged.kind, AnswerKind::kFailure);
  EXPECT_EQ(judged.rcode, dns::Rcode::kBadVers);
}

TEST(JudgeAnswerEdns, FormErrWithoutEdnsIsAFailure) {
  Pending pending = pending_for("www.example.com");
  pending.edns = false;
  const Wire answer = testing::make_answer(testing::make_query({}), {.flags = 0x8181});
  EXPECT_EQ(judge_answer(pending, answer).kind, AnswerKind::kFailure);
}

}  // namespace
}  // namespace wirecache::upstream
