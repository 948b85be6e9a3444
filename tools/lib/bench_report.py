"""From the figures of the children of tools/bench cache to one report, and a table to look at."""

import statistics

TIMES = ("inserts_per_sec", "lookup_ns_burst", "lookup_ns_single")
PUBLISHED_AFTER_BYTES = 420
PUBLISHED_BEFORE_BYTES = 953
DEFINITIONS = {
    "clock": "processor time of the measuring thread; medians over runs, each a process of its own;"
             " spread: lowest and highest",
    "bytes_per_entry": "growth of VmRSS + HugetlbPages from the empty process to the filled cache,"
                       " the allocator's unused pages given back, over entries found unexpired",
    "payload_bytes_per_entry": "the question's name and all record data, as on the wire",
    "inserts_per_sec": "from the upstream's raw message, the same for all layouts: ours encodes and"
                       " files it, the others parse it into their records and file them",
    "prepared_inserts_per_sec": "only the filing of what has been made before: ours copies a"
                                " finished entry and indexes it; the others move key and entry"
                                " into their table",
    "lookup_ns_burst": "from the parsed query of a random key to the complete reply in its packet,"
                       " independent of each other; ours in bursts of 32",
    "lookup_ns_single": "the same, each begun when the one before is complete",
    "live_bytes_per_entry_after_churn": "as bytes_per_entry, after 10 times the entries inserted"
                                        " within churn_simulated_sec, with evictions and expiries",
    "before, after": "the published layouts made again over absl::flat_hash_map on jemalloc; with"
                     " huge pages: jemalloc with thp:always",
    "reader_slowdown": "look-ups beside a writer at full speed on the same partition, against the"
                       " same writer on another",
}


def summary(found, keys):
    """Medians of the children's numbers, and for `keys` lowest and highest.

    What only some children have measured is theirs alone.
    """
    row = {"spread": {}}
    for key in dict.fromkeys(k for figures in found for k in figures):
        values = [figures[key] for figures in found if key in figures]
        if isinstance(values[0], str):
            row[key] = values[0]
            continue
        row[key] = statistics.median(values)
        if key in keys:
            row["spread"][key] = [min(values), max(values)]
    return row


def _against(ours, other):
    """How many times better ours is."""
    ratios = {
        "bytes_times": other["bytes_per_entry"] / ours["bytes_per_entry"],
        "inserts_times": ours["inserts_per_sec"] / other["inserts_per_sec"],
        "lookup_burst_times": other["lookup_ns_burst"] / ours["lookup_ns_burst"],
        "lookup_single_times": other["lookup_ns_single"] / ours["lookup_ns_single"],
    }
    if "prepared_inserts_per_sec" in ours and "prepared_inserts_per_sec" in other:
        ratios["prepared_inserts_times"] = (ours["prepared_inserts_per_sec"] /
                                            other["prepared_inserts_per_sec"])
    return {name: round(ratio, 3) for name, ratio in ratios.items()}


def _one_size(rows):
    """The default's figures on top, then every variant, each against `after` on the same pages."""
    published = {(v.layout, v.pages): row for v, row in rows.items() if v.layout != "ours"}
    variants = []
    for variant, row in rows.items():
        row = dict(row)
        if variant.layout == "ours":
            row["against"] = {layout: _against(row, other)
                              for (layout, pages), other in published.items()
                              if pages == variant.pages}
        variants.append(row)
    ours = [row for row in variants if row["layout"] == "ours"]
    huge = [row for row in ours if row["pages"] == "huge"]
    top = (huge or ours or [{}])[0]
    result = {k: v for k, v in top.items() if k != "layout"}
    for layout in ("before", "after"):
        result[layout] = next((row for row in variants if row["layout"] == layout), None)
    return result | {"variants": variants}


def _goal(name, value, bound, is_met):
    return {"goal": name, "value": round(value, 4), "bound": round(bound, 4), "met": is_met}


def _at_most(name, value, bound):
    return _goal(name, value, bound, value <= bound)


def _at_least(name, value, bound):
    return _goal(name, value, bound, value >= bound)


def _goals_of_ours(row):
    where = f"{row['entries']} entries, {row['index']}, {row['pages']} pages: "
    if row["index"] == "compact":
        yield _at_most(where + "bytes_per_entry, 1.25 x payload", row["bytes_per_entry"],
                       1.25 * row["payload_bytes_per_entry"])
    elif row["entries"] == 4_000_000:
        yield _at_most(where + "bytes_per_entry", row["bytes_per_entry"], 150)
    if "live_bytes_per_entry_after_churn" in row:
        yield _at_most(where + "live bytes after churn, 1.15 x fresh",
                       row["live_bytes_per_entry_after_churn"], 1.15 * row["bytes_per_entry"])
        for what in ("insertions", "lookups"):
            allocated = (row[f"jemalloc_bytes_allocated_by_{what}"] +
                         abs(row[f"dpdk_pieces_allocated_by_{what}"]))
            yield _at_most(where + f"allocated by {what} after warm-up", allocated, 0)
    after = row["against"].get("after")
    if after is not None:
        yield _at_least(where + "insertions, times after", after["inserts_times"], 4)
        yield _at_least(where + "look-ups in bursts, times after", after["lookup_burst_times"], 4)
        yield _at_least(where + "single look-ups, times after", after["lookup_single_times"], 2)


def _goals_of_traces(hit_ratio):
    """A scan and a flood hit nowhere, so that all requests is the harder measure of a gain, and the
    ordinary ones that of a loss."""
    for trace in hit_ratio["traces"]:
        every, ordinary = trace["hit_ratio"], trace["ordinary_hit_ratio"]
        ours = "ours" if "ours" in every else "segments"
        where = (f"zipf {trace['zipf']}, {trace['disturbance']},"
                 f" {trace['capacity_percent']}% of the bytes: hit ratio, ")
        if trace["disturbance"] != "none":
            yield _at_least(where + "lru + 1 point", every[ours], every["lru"] + 0.01)
        yield _at_least(where + "lru", ordinary[ours], ordinary["lru"])
        yield _at_least(where + "s3_fifo - 1 point", ordinary[ours], ordinary["s3_fifo"] - 0.01)


def _goals(sizes, sharing, hit_ratio):
    for size in sizes:
        for row in size["variants"]:
            if row["layout"] == "ours":
                yield from _goals_of_ours(row)
        if size["after"] is not None:
            off = abs(size["after"]["bytes_per_entry"] / PUBLISHED_AFTER_BYTES - 1)
            yield _at_most(f"{size['after']['entries']} entries: after is off the published bytes",
                           off, 0.15)
    for row in sharing:
        yield _at_most(f"{row['index']}: reader_slowdown", row["reader_slowdown"], 0.15)
    if hit_ratio is not None:
        yield from _goals_of_traces(hit_ratio)


def _print_table(sizes, goals):
    print(f"{'entries':>9} {'layout':>14} {'pages':>7} {'bytes':>7} {'churned':>8}"
          f" {'inserts/s':>10} {'burst ns':>9} {'single ns':>10}")
    for size in sizes:
        for row in size["variants"]:
            churned = row.get("live_bytes_per_entry_after_churn")
            print(f"{row['entries']:>9} {row.get('index', row['layout']):>14} {row['pages']:>7}"
                  f" {row['bytes_per_entry']:>7.1f} {f'{churned:.1f}' if churned else '':>8}"
                  f" {row['inserts_per_sec']:>10.0f} {row['lookup_ns_burst']:>9.1f}"
                  f" {row['lookup_ns_single']:>10.1f}")
    for goal in goals:
        if not goal["met"]:
            print(f"not met: {goal['goal']}: {goal['value']} (bound {goal['bound']})")


def report(sizes, sharing, hit_ratio):
    """The JSON object; prints the table as well."""
    sizes = [_one_size(rows) for rows in sizes.values()]
    goals = list(_goals(sizes, sharing, hit_ratio))
    _print_table(sizes, goals)
    return {
        "benchmark": "cache",
        "sizes": sizes,
        "reader_slowdown": sharing,
        "hit_ratio": hit_ratio,
        "goals": goals,
        "published": {"before_bytes_per_entry": PUBLISHED_BEFORE_BYTES,
                      "after_bytes_per_entry": PUBLISHED_AFTER_BYTES,
                      "after_inserts_per_sec": 893_000, "after_lookup_ns": 670},
        "definitions": DEFINITIONS,
    }
