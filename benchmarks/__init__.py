"""What the product costs, as ratios within one run: machines differ and are noisy, ratios hold."""
