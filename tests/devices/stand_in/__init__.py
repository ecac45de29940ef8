"""A device called npu that lies in host memory, for tests of what no machine of ours has."""
