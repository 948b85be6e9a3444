"""The virtual machine by hand; README.md says how."""

import argparse
import os
import sys

import machine

from machine import appliance, processes  # isort: skip

ZONE = os.path.join(appliance.ROOT, "tests", "integration", "zones", "demo.zone")


def explain(lab):
    inside = f"ip netns exec {lab.network.net.name}"
    print(lab.machine.console())
    for link in lab.network.links:
        for address in (link.v4(1), link.v6(1)):
            print(f"ask:      {inside} dig @{address} www.demo.example")
    print(f"metrics:  {inside} curl -s http://{lab.network.links[0].v4(1)}:{machine.METRICS_PORT}"
          "/metrics\n"
          f"console:  {lab.machine.console_path}\n"
          "Each line typed here is run in the guest; end of file ends the machine.", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="tests/vm/run.py")
    parser.add_argument("nic", nargs="?", choices=machine.NICS, default=str(machine.VIRTIO))
    nic = machine.NICS[parser.parse_args().nic]
    processes.raise_on_signals()
    lab = machine.Lab(nic, {"demo.example": ZONE})
    try:
        explain(lab)
        for line in sys.stdin:
            try:
                print(lab.machine.shell.run(line.strip()), flush=True)
            except RuntimeError as error:
                print(error, flush=True)
    finally:
        lab.close()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
