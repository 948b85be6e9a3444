// One received packet on its way through a worker's stages.
//
// Invariant: the packet owns its mbuf until a stage gives it away (sent, handed over, punted or
// freed). Offsets in `frame` count from `data`. Belongs to one worker; contexts live in the
// worker's arrays, not in the mbuf, so that they stay in the first-level cache.
#pragma once

#include <rte_mbuf.h>

#include <cstdint>

#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/cache/key.h"
#include "lib/dns/query.h"
#include "lib/net/frame.h"

namespace wirecache::worker {

inline constexpr uint16_t kBurstPackets = 32;

struct Packet {
  rte_mbuf* mbuf = nullptr;
  uint8_t* data = nullptr;         // the frame's first byte
  const uint8_t* entry = nullptr;  // what the index holds under the key's hash
  TscTime arrived;
  uint8_t port_index = 0;
  net::Frame frame;
  dns::Query query;
  cache::Key key;
  cache::KeyBuffer key_bytes;

  void take(rte_mbuf* m) {
    mbuf = m;
    data = rte_pktmbuf_mtod(m, uint8_t*);
  }
  // The UDP payload as it came.
  Bytes message() const { return {data + frame.payload_offset, frame.payload_bytes}; }
  // The room for a reply where the payload stands.
  MutableBytes reply_room() const {
    return {data + frame.payload_offset,
            static_cast<size_t>(mbuf->buf_len - mbuf->data_off - frame.payload_offset)};
  }
  Bytes question_name() const { return message().subspan(dns::kHeaderBytes, query.qname_bytes); }
};

}  // namespace wirecache::worker
