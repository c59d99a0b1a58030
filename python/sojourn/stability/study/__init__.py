"""Analyses: margins, maps, designs, and comparisons with the simulator."""
