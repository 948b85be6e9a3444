#include "lib/cache/name_packer.h"

#include "lib/dns/name.h"

namespace wirecache::cache {
namespace {

unsigned bucket_of(uint16_t parent, Bytes label) {
  uint32_t hash = parent;
  for (uint8_t c : label) hash = (hash ^ dns::ascii_lower(c)) * 0x01000193;
  return (hash ^ hash >> 15) & 0xff;
}

// A label with its length byte.
Bytes label_at(Bytes name, size_t at) {
  return name.subspan(at, 1 + size_t{name[at]});
}

}  // namespace

void NamePacker::begin(const uint8_t* entry, Bytes question_name, uint16_t at) {
  entry_ = entry;
  nodes_ = 0;
  numbered_ = 0;
  buckets_.fill(kNone);
  Labels labels;
  find_suffix(question_name, PackMode::kCompressed, labels);
  uint16_t parent = kRoot;
  for (unsigned i = labels.count; i-- > 0;) {
    const uint16_t ref = i < kQuestionRefs ? static_cast<uint16_t>(kQuestionBit | i) : kNone;
    parent = add(parent, label_at(question_name, labels.at[i]),
                 static_cast<uint16_t>(at + labels.at[i]), ref);
  }
}

bool NamePacker::pack(Writer& out, Bytes name, PackMode mode) {
  Labels labels;
  find_suffix(name, mode, labels);
  const size_t written_at = out.position();
  const size_t literal_bytes =
      labels.literal == labels.count ? name.size() - 1 : labels.at[labels.literal];
  if (!out.bytes(name.first(literal_bytes)) || !write_ref(out, labels.ref)) return false;
  if (mode != PackMode::kUnnumbered && labels.literal != 0) {
    learn(labels, name, static_cast<uint16_t>(written_at));
    numbered_ += labels.literal;
  }
  return true;
}

// Splits the name into labels and goes down the tree as far as it reaches.
void NamePacker::find_suffix(Bytes name, PackMode mode, Labels& labels) const {
  for (size_t at = 0; name[at] != 0 && labels.count < kMostLabels; at += 1 + size_t{name[at]}) {
    labels.at[labels.count++] = static_cast<uint8_t>(at);
  }
  labels.literal = labels.count;
  uint16_t node = kRoot;
  for (unsigned i = labels.count; i-- > 0;) {
    const Bytes label = label_at(name, labels.at[i]);
    node = child(node, label);
    if (node == kNone) return;
    const uint16_t ref = tree_[node].ref;
    if (mode == PackMode::kWhole &&
        ((ref & kQuestionBit) == 0 ||
         std::memcmp(entry_ + tree_[node].label, label.data(), label.size()) != 0)) {
      return;
    }
    if (ref == kNone) continue;
    labels.literal = i;
    labels.ref = ref;
  }
}

bool NamePacker::write_ref(Writer& out, uint16_t ref) {
  if (ref == kNone) return out.u8(kNameRoot);
  if ((ref & kQuestionBit) != 0) {
    return out.u8(static_cast<uint8_t>(kNameQuestionRef | (ref & (kQuestionRefs - 1))));
  }
  if (ref < kNameLabelRefLong) return out.u8(static_cast<uint8_t>(kNameLabelRef | ref));
  return out.u8(kNameLabelRef | kNameLabelRefLong) &&
         out.u8(static_cast<uint8_t>(ref - kNameLabelRefLong));
}

// Files the labels that were written out, the last one first, below what was known of the name.
void NamePacker::learn(const Labels& labels, Bytes name, uint16_t written_at) {
  uint16_t node = kRoot;
  for (unsigned i = labels.count; i-- > 0 && node != kNone;) {
    const Bytes label = label_at(name, labels.at[i]);
    uint16_t next = child(node, label);
    if (i < labels.literal) {
      const unsigned number = numbered_ + i;
      const uint16_t ref = number < kLabelRefs ? static_cast<uint16_t>(number) : kNone;
      if (next == kNone) {
        next = add(node, label, static_cast<uint16_t>(written_at + labels.at[i]), ref);
      } else if (tree_[next].ref == kNone) {
        tree_[next].ref = ref;
      }
    }
    node = next;
  }
}

uint16_t NamePacker::child(uint16_t parent, Bytes label) const {
  uint16_t node = buckets_[bucket_of(parent, label)];
  for (unsigned probes = 0; node != kNone && probes < kMostProbes; ++probes) {
    const Node& candidate = tree_[node];
    const Bytes known(entry_ + candidate.label, 1 + size_t{entry_[candidate.label]});
    if (candidate.parent == parent && dns::names_equal(known, label)) return node;
    node = candidate.next;
  }
  return kNone;
}

// kNone where the tree is full.
uint16_t NamePacker::add(uint16_t parent, Bytes label, uint16_t place, uint16_t ref) {
  if (nodes_ == kMostNodes || parent == kNone) return kNone;
  uint16_t& head = buckets_[bucket_of(parent, label)];
  tree_[nodes_] = {.parent = parent, .next = head, .label = place, .ref = ref};
  head = static_cast<uint16_t>(nodes_);
  return static_cast<uint16_t>(nodes_++);
}

}  // namespace wirecache::cache
