"""From an operating point to a running service: fleet, autoscaling, cost, manifest, diagnosis, rollout."""
