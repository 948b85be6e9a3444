// Feeds bytes as an upstream's message to MessageWalk, and walks the names in its record data by
// their types' shapes.
//
// Demanded: names come out as valid flat names, both readers of names agree, record data lies
// within the message, and the records follow each other without a gap up to the last byte.
#include <cstddef>
#include <cstdint>

#include "lib/dns/message.h"
#include "lib/dns/name.h"
#include "lib/dns/rdata.h"
#include "tests/fuzz/require.h"

namespace wirecache::dns {
namespace {

using fuzz::require;

void check_name(const FlatName& name) {
  require(flat_name_length(name.view()) == name.size, "a flat name is valid");
  FlatName lower;
  lower.size = name.size;
  lower_name(name.view(), lower.bytes.data());
  require(flat_name_length(lower.view()) == name.size, "lowering keeps the lengths");
  require(names_equal(name.view(), lower.view()), "a name equals itself without case");
  require(is_subdomain(name.view(), lower.view()), "a name is below itself");
  require(label_count(name.view()) <= 127, "at most 127 labels");
}

// Both readers of names agree. False: malformed.
bool check_read_name(Bytes message, Reader& reader, FlatName& name) {
  Reader skipper = reader;
  const bool ok = read_name(message, reader, name);
  require(skip_name(message, skipper) == ok, "read_name and skip_name agree");
  if (!ok) return false;
  require(skipper.position() == reader.position(), "and end at the same place");
  check_name(name);
  return true;
}

void walk_rdata(Bytes message, const Record& record) {
  const RdataShape shape = rdata_shape(record.type);
  const size_t end = size_t{record.rdata_offset} + record.rdata_bytes;
  Reader reader(message.first(end), record.rdata_offset);
  if (!reader.skip(shape.before)) return;
  for (unsigned i = 0; i < shape.strings; ++i) {
    uint8_t length;
    if (!reader.u8(length) || !reader.skip(length)) return;
  }
  for (unsigned i = 0; i < shape.names; ++i) {
    FlatName name;
    if (!check_read_name(message, reader, name)) return;
    require(reader.position() <= end, "a name ends within its record");
  }
}

void walk_message(Bytes message) {
  MessageWalk walk(message);
  Header header;
  Question question;
  if (!walk.begin(header, question)) return;
  check_name(question.name);
  Reader reader(message, kHeaderBytes);
  FlatName name;
  require(check_read_name(message, reader, name) && reader.skip(4), "the question stands first");

  Record record;
  auto section = Section::kAnswer;
  uint32_t records = 0;
  MessageWalk::Step step;
  while ((step = walk.next(record)) == MessageWalk::Step::kRecord) {
    ++records;
    require(record.section >= section, "sections come in order");
    section = record.section;
    require(check_read_name(message, reader, name) && reader.skip(10), "no gap between records");
    require(reader.position() == record.rdata_offset, "record data follows the fixed fields");
    require(reader.skip(record.rdata_bytes), "record data lies within the message");
    walk_rdata(message, record);
  }
  if (step != MessageWalk::Step::kDone) return;
  require(reader.at_end(), "a whole message was seen to its last byte");
  require(
      records == uint32_t{header.answer_count} + header.authority_count + header.additional_count,
      "and has as many records as its header says");
}

}  // namespace
}  // namespace wirecache::dns

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  wirecache::dns::walk_message({data, size});
  return 0;
}
