"""A scenario as the commands that build it on Linux: namespaces, veth pairs, tc and sysctl."""
