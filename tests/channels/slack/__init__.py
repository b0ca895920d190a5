"""The Slack channel in front of the simulator, with Slack's own libraries between them."""
