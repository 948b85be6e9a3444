#include "tests/unit/cache/codec_fixtures.h"

namespace wirecache::cache {

const std::vector<Fixture>& fixtures() {
  static const std::vector<Fixture> all = {
#include "tests/unit/cache/fixtures.inc"
  };
  return all;
}

}  // namespace wirecache::cache
