"""What every request passes on its way to a route: who it is, where it comes from, how much it may ask."""
