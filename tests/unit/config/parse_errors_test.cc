// What one key alone can get wrong, and the one line that says so.
#include "tests/unit/config/config_text.h"

namespace wirecache::config {
namespace {

// kText has 13 lines, so what `tail` begins with stands on line 14.
std::string tail_error(const std::string& tail) {
  return error_of(kText + tail);
}

TEST(UnknownKeys, NameTheNearestRightOne) {
  EXPECT_EQ(tail_error("[cache]\nmemroy_mb = 64\n"),
            "w.toml:15: unknown key 'memroy_mb' in [cache]: did you mean 'memory_mb'?");
  EXPECT_EQ(tail_error("[cache]\nmin-ttl = 1\n"),
            "w.toml:15: unknown key 'min-ttl' in [cache]: did you mean 'min_ttl'?");
  EXPECT_EQ(error_of(edit("name =", "nmae = \"p0\"\nname =")),
            "w.toml:5: unknown key 'nmae' in [[port]]: did you mean 'name'?");
  EXPECT_EQ(tail_error("trust_add = true\n"),
            "w.toml:14: unknown key 'trust_add' in [[upstream.server]]: did you mean 'trust_ad'?");
}

TEST(UnknownKeys, NameTheNearestRightTable) {
  EXPECT_EQ(error_of(edit("[listen]", "[lisen]")),
            "w.toml:8: unknown table [lisen]: did you mean [listen]?");
  EXPECT_EQ(tail_error("[[prot]]\n"), "w.toml:14: unknown table [[prot]]: did you mean [[port]]?");
  EXPECT_EQ(tail_error("[[upstream.servers]]\n"),
            "w.toml:14: unknown table [[upstream.servers]]: did you mean [[upstream.server]]?");
  EXPECT_EQ(error_of("edn = 1\n" + kText), "w.toml:1: unknown key 'edn': did you mean [edns]?");
}

TEST(UnknownKeys, WithNothingNearNameThemAll) {
  EXPECT_EQ(tail_error("[edns]\ncolour = 1\n"),
            "w.toml:15: unknown key 'colour' in [edns]: known here are 'udp_size', "
            "'max_reply_bytes'");
  EXPECT_EQ(tail_error("[zzzzzz]\n"),
            "w.toml:14: unknown table [zzzzzz]: known here are [cores], [eal], [[port]], "
            "[[route]], [drivers], [listen], [clients], [cache], [upstream], [edns], [metrics]");
}

TEST(UnknownKeys, StayOnOneLine) {
  EXPECT_EQ(tail_error("[edns]\n\"udp\\nsize\" = 1\n"),
            "w.toml:15: unknown key 'udp\\x0asize' in [edns]: did you mean 'udp_size'?");
}

TEST(WrongTypes, OfValues) {
  EXPECT_EQ(error_of(edit("port = 53", "port = \"53\"")),
            "w.toml:9: 'port' in [listen] must be an integer, not a string");
  EXPECT_EQ(error_of(edit("port = 53", "port = 53.0")),
            "w.toml:9: 'port' in [listen] must be an integer, not a float");
  EXPECT_EQ(error_of(edit("port = 53", "port = true")),
            "w.toml:9: 'port' in [listen] must be an integer, not a boolean");
  EXPECT_EQ(error_of(edit("port = 53", "port = [53]")),
            "w.toml:9: 'port' in [listen] must be an integer, not an array");
  EXPECT_EQ(error_of(edit("port = 53", "port = {}")),
            "w.toml:9: 'port' in [listen] must be an integer, not a table");
  EXPECT_EQ(error_of(edit("port = 53", "port = 2020-01-01")),
            "w.toml:9: 'port' in [listen] must be an integer, not a date or time");
  EXPECT_EQ(error_of(edit("\"p0\"", "0")),
            "w.toml:5: 'name' in [[port]] must be a string, not an integer");
  EXPECT_EQ(tail_error("trust_ad = 1\n"),
            "w.toml:14: 'trust_ad' in [[upstream.server]] must be a boolean, not an integer");
  EXPECT_EQ(tail_error("[eal]\nhuge_pages = true\n"),
            "w.toml:15: 'huge_pages' in [eal] must be a string, not a boolean");
}

TEST(WrongTypes, OfArraysAndTheirElements) {
  EXPECT_EQ(error_of(edit("[1, 2]", "1")),
            "w.toml:3: 'workers' in [cores] must be an array, not an integer");
  EXPECT_EQ(error_of(edit("[1, 2]", "[1,\n\"2\"]")),
            "w.toml:4: each element of 'workers' in [cores] must be an integer, not a string");
  EXPECT_EQ(tail_error("[eal]\nextra = [1]\n"),
            "w.toml:15: each element of 'extra' in [eal] must be a string, not an integer");
}

TEST(WrongTypes, OfTables) {
  EXPECT_EQ(error_of("edns = 1\n" + kText),
            "w.toml:1: 'edns' must be a table, [edns], not an integer");
  EXPECT_EQ(tail_error("[[edns]]\n"), "w.toml:14: 'edns' must be a table, [edns], not an array");
  EXPECT_EQ(error_of(edit("[[port]]", "[port]")),
            "w.toml:4: 'port' must be an array of tables, [[port]], not a table");
  EXPECT_EQ(error_of(edit("[[upstream.server]]\n", "server = \"10.53.0.2\"\n#")),
            "w.toml:12: 'server' in [upstream] must be an array of tables, [[upstream.server]], "
            "not a string");
}

TEST(RequiredKeys, AreMissed) {
  EXPECT_EQ(error_of(edit("name = \"p0\"\n", "")), "w.toml:4: [[port]] needs 'name'");
  EXPECT_EQ(error_of(edit("device =", "#")), "w.toml:4: [[port]] needs 'device'");
  EXPECT_EQ(error_of(edit("address = \"10.53.0.2\"\n", "")),
            "w.toml:12: [[upstream.server]] needs 'address'");
}

struct RangeCase {
  const char* table;
  const char* key;
  int64_t first;
  int64_t last;
};

TEST(Ranges, AreSaid) {
  for (const RangeCase& c :
       std::initializer_list<RangeCase>{{"eal", "memory_mb", 64, 1048576},
                                        {"cache", "memory_mb", 4, 1048576},
                                        {"cache", "min_ttl", 0, 604800},
                                        {"cache", "max_ttl", 0, 604800},
                                        {"cache", "max_negative_ttl", 0, 604800},
                                        {"cache", "failure_ttl", 1, 300},
                                        {"edns", "udp_size", 512, 4096},
                                        {"edns", "max_reply_bytes", 512, 1452}}) {
    const std::string head = std::string("[") + c.table + "]\n" + c.key + " = ";
    const std::string wrong = std::string("w.toml:15: '") + c.key + "' in [" + c.table +
                              "] must be from " + std::to_string(c.first) + " to " +
                              std::to_string(c.last) + ", not ";
    for (const int64_t value : {c.first - 1, c.last + 1, INT64_MIN, INT64_MAX})
      EXPECT_EQ(tail_error(head + std::to_string(value)), wrong + std::to_string(value));
  }
}

TEST(Ranges, OfTheTablesInTheText) {
  EXPECT_EQ(error_of(edit("main = 0", "main = -1")),
            "w.toml:2: 'main' in [cores] must be from 0 to 1023, not -1");
  EXPECT_EQ(error_of(edit("[1, 2]", "[1, 1024]")),
            "w.toml:3: 'workers' in [cores] must be from 0 to 1023, not 1024");
  EXPECT_EQ(error_of(edit("[listen]", "queues = 65\n[listen]")),
            "w.toml:8: 'queues' in [[port]] must be from 0 to 64, not 65");
  EXPECT_EQ(error_of(edit("port = 53", "port = 0")),
            "w.toml:9: 'port' in [listen] must be from 1 to 65535, not 0");
  EXPECT_EQ(error_of(edit("port = 53", "port = 65536")),
            "w.toml:9: 'port' in [listen] must be from 1 to 65535, not 65536");
  EXPECT_EQ(tail_error("port = 70000\n"),
            "w.toml:14: 'port' in [[upstream.server]] must be from 1 to 65535, not 70000");
  const auto upstream = [](const std::string& line) {
    return error_of(edit("[[upstream", line + "\n[[upstream"));
  };
  EXPECT_EQ(upstream("try_timeout_ms = 9"),
            "w.toml:12: 'try_timeout_ms' in [upstream] must be from 10 to 10000, not 9");
  EXPECT_EQ(upstream("deadline_ms = 10001"),
            "w.toml:12: 'deadline_ms' in [upstream] must be from 10 to 10000, not 10001");
  EXPECT_EQ(upstream("max_pending = 0"),
            "w.toml:12: 'max_pending' in [upstream] must be from 1 to 1048576, not 0");
  EXPECT_EQ(upstream("max_waiting = 1048577"),
            "w.toml:12: 'max_waiting' in [upstream] must be from 1 to 1048576, not 1048577");
}

TEST(Words, AreSaid) {
  EXPECT_EQ(error_of(edit("main = 0", "idle = \"pol\"")),
            "w.toml:2: 'idle' in [cores] must be \"poll\" or \"yield\", not \"pol\": did you mean "
            "\"poll\"?");
  EXPECT_EQ(tail_error("[eal]\nhuge_pages = \"always\"\n"),
            "w.toml:15: 'huge_pages' in [eal] must be \"auto\", \"on\" or \"off\", not \"always\"");
  EXPECT_EQ(tail_error("[clients]\nrefuse = \"Drop\"\n"),
            "w.toml:15: 'refuse' in [clients] must be \"refuse\" or \"drop\", not \"Drop\": did "
            "you mean \"drop\"?");
}

TEST(Addresses, MustBeAddresses) {
  EXPECT_EQ(error_of(edit("\"10.53.0.1/24\"", "\"10.53.0.1\"")),
            "w.toml:7: 'addresses' in [[port]]: \"10.53.0.1\" is not an address with a prefix "
            "length like \"10.53.0.1/24\"");
  EXPECT_EQ(error_of(edit("10.53.0.1/24", "10.53.0.1/33")),
            "w.toml:7: 'addresses' in [[port]]: \"10.53.0.1/33\" is not an address with a prefix "
            "length like \"10.53.0.1/24\"");
  EXPECT_EQ(error_of(edit("port = 53", "addresses = [\"10.53.0.1\", \"eth1\"]")),
            "w.toml:9: 'addresses' in [listen]: \"eth1\" is not an IP address");
  EXPECT_EQ(error_of(edit("\"10.53.0.2\"", "\"10.53.0.256\"")),
            "w.toml:13: 'address' in [[upstream.server]]: \"10.53.0.256\" is not an IP address");
  EXPECT_EQ(tail_error("[clients]\nallow = [\n\"10.0.0.0/8\",\n\"10.0.0.0/x\"]\n"),
            "w.toml:17: 'allow' in [clients]: \"10.0.0.0/x\" is not a network like \"10.0.0.0/8\" "
            "or \"fd00::/8\"");
}

TEST(SourcePorts, MustBeARange) {
  for (const char* range : {"", "10000", "10000-", "-32767", "10000-65536", "0-32767", "a-b",
                            "10000 - 32767", "1-2-3"}) {
    EXPECT_EQ(error_of(edit("10000-32767", range)),
              std::string("w.toml:11: 'source_ports' in [upstream]: \"") + range +
                  "\" is not a range of ports like \"10000-32767\"");
  }
}

TEST(MetricsListen, MustBeAnAddressWithAPort) {
  for (const char* endpoint : {"127.0.0.1", "localhost:9353", "::1:9353", "[127.0.0.1]:9353",
                               "[::1]", "127.0.0.1:0", "127.0.0.1:65536", ":9353", "[]:9353"}) {
    EXPECT_EQ(tail_error(std::string("[metrics]\nlisten = \"") + endpoint + "\"\n"),
              std::string("w.toml:15: 'listen' in [metrics]: \"") + endpoint +
                  "\" is not an address and port like \"127.0.0.1:9353\" or \"[::1]:9353\"");
  }
}

TEST(Syntax, SaysLineAndColumn) {
  const std::string error = error_of(edit("port = 53", "port ="));
  EXPECT_EQ(error.substr(0, 24), "w.toml:9:7: TOML syntax:") << error;
}

TEST(Problems, TheOneThatStandsHighestIsTold) {
  EXPECT_EQ(error_of("edns.udp_size = 1\n" + edit("main = 0", "main = \"x\"")),
            "w.toml:1: 'udp_size' in [edns] must be from 512 to 4096, not 1");
}

}  // namespace
}  // namespace wirecache::config
