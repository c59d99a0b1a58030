"""Questions put to the theory: margins, maps, designs, and what the simulator shows."""
