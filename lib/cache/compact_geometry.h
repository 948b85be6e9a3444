// Where the compact index may file a key: two buckets, and the tag that it has in each.
//
// Linear hashing: with n buckets, 2^l <= n < 2^(l+1), a bucket has the keys whose 32-bit address
// ends in the bucket's number, counted in l + 1 bits where bucket and twin (bucket +- 2^l) both
// exist, else in l bits (the bucket's depth). So the table grows bucket by bucket.
//
// A key has two addresses, by choice. From its hash:
//
//     63        41 40       32 31                     0
//     | (owner)    | label, 9 | address of choice 0    |    address 1 = address 0 ^ offset(label)
//
// The owner of a key comes from the top bits (owner_of), the rest is the partition's own. The
// offset is odd: the two buckets are never the same, nor twins.
//
// A tag has the label, never 0, the choice, and 4 bits of the address from bit 4 * (depth / 4) on:
//
//     address   ........ 7654 3210       depth 4 to 7: | label 9 | choice 1 | address bits 7-4 |
//
// With the bucket's number the tag gives more of the address than its depth: so which half of a
// bucket an entry belongs to, and what its other bucket is, can be told without its hash. Only
// where the depth passes a multiple of 4 new bits must come from the entry's key.
#pragma once

#include <bit>
#include <cstdint>

namespace wirecache::cache {

inline constexpr unsigned kSlideBits = 4;
inline constexpr uint32_t kFewestBuckets = 1u << kSlideBits;
inline constexpr uint32_t kMostBuckets = 1u << 27;  // 1.4 billion entries
inline constexpr unsigned kLabelBits = 9;
inline constexpr unsigned kChoiceBit = kSlideBits;  // of a tag

struct CompactHash {
  explicit CompactHash(uint64_t hash)
      : label(static_cast<uint32_t>(hash >> 32) & ((1u << kLabelBits) - 1)),
        address_0(static_cast<uint32_t>(hash)) {
    label += label == 0 ? 1 : 0;
  }
  static uint32_t offset(uint32_t label) { return label * 0x9e3779b1u | 1; }
  uint32_t address(unsigned choice) const {
    return choice == 0 ? address_0 : address_0 ^ offset(label);
  }

  uint32_t label;
  uint32_t address_0;
};

// Where in the index an entry stands or may stand.
struct CompactPlace {
  uint32_t bucket;
  uint32_t tag;

  uint32_t label() const { return tag >> (kSlideBits + 1); }
  unsigned choice() const { return tag >> kChoiceBit & 1; }
};

class CompactGeometry {
 public:
  explicit CompactGeometry(uint32_t buckets)
      : buckets_(buckets),
        level_(static_cast<unsigned>(std::bit_width(buckets)) - 1),
        half_(1u << level_) {}

  uint32_t bucket_of(uint32_t address) const {
    const uint32_t deep = address & (2 * half_ - 1);
    return deep < buckets_ ? deep : deep & (half_ - 1);
  }
  unsigned depth(uint32_t bucket) const {
    return level_ + (bucket >= half_ || bucket + half_ < buckets_ ? 1 : 0);
  }
  // The first of the address bits in a tag of this bucket.
  unsigned slide(uint32_t bucket) const { return depth(bucket) / kSlideBits * kSlideBits; }

  CompactPlace place(const CompactHash& hash, unsigned choice) const {
    const uint32_t address = hash.address(choice);
    const uint32_t bucket = bucket_of(address);
    return {bucket, tag(hash.label << 1 | choice, address, slide(bucket))};
  }
  // The low slide() + 4 bits of the address by which an entry stands in its place.
  uint32_t known_address(CompactPlace place) const {
    const unsigned from = slide(place.bucket);
    return (place.bucket & ((1u << from) - 1)) | (place.tag & ((1u << kSlideBits) - 1)) << from;
  }
  // The bucket of an entry's other choice.
  uint32_t other_bucket(CompactPlace place) const {
    return bucket_of(known_address(place) ^ CompactHash::offset(place.label()));
  }
  // The same tag for another address, or for another depth.
  static uint32_t retag(uint32_t old_tag, uint32_t address, unsigned slide) {
    return tag(old_tag >> kSlideBits, address, slide);
  }
  static uint32_t with_other_choice(uint32_t tag) { return tag ^ 1u << kChoiceBit; }

  // The twin of the last bucket, with which that is one in a table of a bucket less.
  uint32_t twin_of_last() const {
    const uint32_t last = buckets_ - 1;
    return last - std::bit_floor(last);
  }
  // The bucket that is split when the table grows by one.
  uint32_t next_to_split() const { return buckets_ - half_; }
  uint32_t buckets() const { return buckets_; }

 private:
  static uint32_t tag(uint32_t label_and_choice, uint32_t address, unsigned slide) {
    return label_and_choice << kSlideBits | (address >> slide & ((1u << kSlideBits) - 1));
  }

  uint32_t buckets_;
  unsigned level_;
  uint32_t half_;
};

}  // namespace wirecache::cache
