// Packs names into an entry that is being written (the "packed name" of entry_codec.h).
//
// A tree of all suffixes that a packed name may refer to: those of the question's name, and each
// label that was written out. Every node is one label below its parent; a name is looked up from
// the root down, so the deepest node that it reaches is its longest known suffix.
//
// Invariant: labels are numbered in the order in which they stand in the entry, as the reply
// builder counts them. Where the tree is full or a bucket crowded, names are only packed less well.
// Plain value of one thread; borrows the entry's bytes. About 6 KiB, nothing to set up but 600
// bytes.
#pragma once

#include <array>
#include <cstdint>

#include "lib/base/bytes.h"

namespace wirecache::cache {

// Bytes of a packed name that are no label length.
inline constexpr uint8_t kNameRoot = 0x00;
inline constexpr uint8_t kNameQuestionRef = 0x80;  // and a label's number, from the name's start
inline constexpr uint8_t kNameLabelRef = 0x40;     // and a number below kNameLabelRefLong
inline constexpr uint8_t kNameLabelRefLong = 63;   // the number is in the next byte, less this
inline constexpr unsigned kQuestionRefs = 64;
inline constexpr unsigned kLabelRefs = kNameLabelRefLong + 256;

enum class PackMode : uint8_t {
  kCompressed,  // will be compressed in the reply: refers to whatever is equal without case
  kWhole,       // will be sent whole: refers to the question alone, where its case is the same
  kUnnumbered,  // as kCompressed, but of a block that a reply may lack: its labels are not numbered
};

class NamePacker {
 public:
  // Starts with the suffixes of the flat lower-case name at entry[at].
  void begin(const uint8_t* entry, Bytes question_name, uint16_t at);

  // Appends the flat name to `out`, a Writer over the entry. False: it does not fit.
  [[nodiscard]] bool pack(Writer& out, Bytes name, PackMode mode);

 private:
  static constexpr unsigned kMostLabels = 127;
  static constexpr unsigned kMostNodes = 640;
  static constexpr unsigned kBuckets = 256;
  static constexpr unsigned kMostProbes = 16;
  static constexpr uint16_t kNone = 0xffff;
  static constexpr uint16_t kRoot = 0xfffe;

  struct Node {
    uint16_t parent;
    uint16_t next;   // in the bucket
    uint16_t label;  // its length byte's place in the entry
    uint16_t ref;    // kNone, or a number; that of a question's label has kQuestionBit
  };
  static constexpr uint16_t kQuestionBit = 0x8000;

  // A name's labels and how much of it is known.
  struct Labels {
    std::array<uint8_t, kMostLabels> at;
    unsigned count = 0;
    unsigned literal = 0;  // so many labels must be written out
    uint16_t ref = kNone;  // what follows them; kNone: the root
  };

  void find_suffix(Bytes name, PackMode mode, Labels& labels) const;
  [[nodiscard]] static bool write_ref(Writer& out, uint16_t ref);
  void learn(const Labels& labels, Bytes name, uint16_t written_at);
  uint16_t child(uint16_t parent, Bytes label) const;
  uint16_t add(uint16_t parent, Bytes label, uint16_t place, uint16_t ref);

  const uint8_t* entry_ = nullptr;
  unsigned nodes_ = 0;
  unsigned numbered_ = 0;
  std::array<uint16_t, kBuckets> buckets_;
  std::array<Node, kMostNodes> tree_;
};

}  // namespace wirecache::cache
