"""From a file to a campaign."""
