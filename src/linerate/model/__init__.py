"""Model: testbeds, loadtests, ledgers, measurements and evidence, as plain values."""
