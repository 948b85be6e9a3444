#include "tests/bench/cache/published_before.h"

#include <algorithm>

#include "lib/dns/rdata.h"

namespace wirecache::bench {
namespace {

using Layout = BeforeLayout;

// Cuts data, names already decompressed, into its parts. What does not come out whole is kept as
// opaque bytes.
class DataReader {
 public:
  explicit DataReader(Bytes rdata) : rdata_(rdata), in_(rdata) {}

  Layout::Data read(uint16_t type) {
    Layout::Data data;
    if (read_known(static_cast<dns::RrType>(type), data) && in_.at_end()) return data;
    return Layout::Opaque{std::string(as_text(rdata_))};
  }

 private:
  bool read_known(dns::RrType type, Layout::Data& data) {
    switch (type) {
      case dns::RrType::kA:
        return copy(data.emplace<Layout::Ipv4>());
      case dns::RrType::kAaaa:
        return copy(data.emplace<Layout::Ipv6>());
      case dns::RrType::kNs:
      case dns::RrType::kCname:
      case dns::RrType::kPtr:
      case dns::RrType::kDname:
        return name(data.emplace<Layout::Name>().name);
      case dns::RrType::kTxt:
        return text(data.emplace<Layout::Text>());
      case dns::RrType::kSoa:
        return soa(data.emplace<Layout::Soa>());
      case dns::RrType::kNaptr:
        return naptr(data.emplace<Layout::Naptr>());
      default:
        return false;
    }
  }

  template <size_t size>
  bool copy(std::array<uint8_t, size>& out) {
    Bytes bytes;
    if (!in_.bytes(size, bytes)) return false;
    std::copy(bytes.begin(), bytes.end(), out.begin());
    return true;
  }
  bool string(std::string& out) {
    uint8_t length;
    Bytes bytes;
    if (!in_.u8(length) || !in_.bytes(length, bytes)) return false;
    out = as_text(bytes);
    return true;
  }
  bool name(std::string& out) {
    const size_t length = dns::flat_name_length(rdata_.subspan(in_.position()));
    Bytes bytes;
    if (length == 0 || !in_.bytes(length, bytes)) return false;
    out = as_text(bytes);
    return true;
  }
  bool text(Layout::Text& out) {
    while (!in_.at_end()) {
      if (!string(out.emplace_back())) return false;
    }
    return true;
  }
  bool soa(Layout::Soa& out) {
    if (!name(out.server) || !name(out.mailbox)) return false;
    return std::all_of(out.numbers.begin(), out.numbers.end(),
                       [this](uint32_t& number) { return in_.u32(number); });
  }
  bool naptr(Layout::Naptr& out) {
    return in_.u16(out.order) && in_.u16(out.preference) && string(out.flags) &&
           string(out.services) && string(out.expression) && name(out.replacement);
  }

  Bytes rdata_;
  Reader in_;
};

class DataWriter {
 public:
  explicit DataWriter(Writer& out) : out_(out) {}

  template <size_t size>
  bool operator()(const std::array<uint8_t, size>& address) {
    return out_.bytes(address);
  }
  bool operator()(const Layout::Name& data) { return out_.bytes(as_bytes(data.name)); }
  bool operator()(const Layout::Text& strings) {
    return std::all_of(strings.begin(), strings.end(),
                       [this](const std::string& s) { return string(s); });
  }
  bool operator()(const Layout::Soa& data) {
    return out_.bytes(as_bytes(data.server)) && out_.bytes(as_bytes(data.mailbox)) &&
           std::all_of(data.numbers.begin(), data.numbers.end(),
                       [this](uint32_t number) { return out_.u32(number); });
  }
  bool operator()(const Layout::Naptr& data) {
    return out_.u16(data.order) && out_.u16(data.preference) && string(data.flags) &&
           string(data.services) && string(data.expression) &&
           out_.bytes(as_bytes(data.replacement));
  }
  bool operator()(const Layout::Opaque& data) { return out_.bytes(as_bytes(data.bytes)); }

 private:
  bool string(const std::string& s) {
    return out_.u8(static_cast<uint8_t>(s.size())) && out_.bytes(as_bytes(s));
  }
  Writer& out_;
};

bool write_section(const std::vector<Layout::Record>& records, const PublishedTimes& times,
                   std::string_view question, uint32_t now_sec, Writer& out) {
  for (const Layout::Record& record : records) {
    const RecordFrame frame{record.owner, record.type, record.rr_class,
                            aged_ttl(record.ttl, times, now_sec)};
    if (!begin_record(out, frame, question)) return false;
    const size_t start = out.position();
    if (!std::visit(DataWriter(out), record.data)) return false;
    end_record(out, start);
  }
  return true;
}

}  // namespace

std::shared_ptr<BeforeLayout::Entry> BeforeLayout::make(Bytes message, const ParsedAnswer& parsed,
                                                        uint32_t now_sec) {
  auto entry = std::make_shared<Entry>();
  entry->times = times_from(now_sec, parsed.smallest_ttl);
  entry->rcode = parsed.header.rcode();
  entry->flags = parsed.header.flags;
  std::vector<uint8_t> unpacked;
  for (size_t i = 0; i < parsed.count; ++i) {
    const dns::Record& from = parsed.records[i];
    Bytes rdata = message.subspan(from.rdata_offset, from.rdata_bytes);
    if (dns::rdata_shape(from.type).names != 0) {
      unpacked.clear();
      if (append_rdata(message, from, unpacked)) rdata = unpacked;
    }
    std::vector<Record>& section = from.section == dns::Section::kAnswer      ? entry->answer
                                   : from.section == dns::Section::kAuthority ? entry->authority
                                                                              : entry->additional;
    section.push_back({.owner = std::string(as_text(from.owner.view())),
                       .ttl = from.ttl,
                       .type = from.type,
                       .rr_class = from.rr_class,
                       .data = DataReader(rdata).read(from.type)});
  }
  return entry;
}

uint16_t BeforeLayout::answer(const Entry& entry, std::string_view question, Packet& packet,
                              uint32_t now_sec) {
  Writer out(MutableBytes(packet.message).first(kReplyLimit),
             dns::kHeaderBytes + packet.query.question_bytes());
  for (const std::vector<Record>* section : {&entry.answer, &entry.authority, &entry.additional}) {
    if (!write_section(*section, entry.times, question, now_sec, out)) return 0;
  }
  const dns::SectionCounts counts{static_cast<uint16_t>(entry.answer.size()),
                                  static_cast<uint16_t>(entry.authority.size()),
                                  static_cast<uint16_t>(entry.additional.size())};
  return finish_reply(packet.query, entry.rcode, counts, out);
}

}  // namespace wirecache::bench
